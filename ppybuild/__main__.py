"""`python -m ppybuild`."""

from ppybuild.cli.main import main

main()
