"""`steps.ppy` with its forward pass, or its whole step, compiled by `torch.compile`."""

import sys  # noqa: I001

import ppy  # noqa: F401  first, so that `steps.ppy` can be imported
import steps
import torch

if sys.argv[1:] == ["whole"]:
    steps.train_step = torch.compile(steps.train_step)
else:
    steps.forward_loss = torch.compile(steps.forward_loss)
steps.main()
