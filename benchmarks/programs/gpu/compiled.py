"""`gpu.ppy` with its forward passes compiled by `torch.compile`, in the mode named first."""

import sys  # noqa: I001

import ppy  # noqa: F401  first, so that `gpu.ppy` can be imported
import gpu
import torch

mode = sys.argv.pop(1)
gpu.forward_loss = torch.compile(gpu.forward_loss, mode=mode, dynamic=False)
gpu.Classifier.forward = torch.compile(gpu.Classifier.forward, mode=mode, dynamic=False)
gpu.main()
