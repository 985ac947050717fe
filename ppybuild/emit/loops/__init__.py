"""The loop IR: lowering from Python, passes, and the C printer."""
