"""`classifier.ppy` with its model's forward pass compiled by `torch.compile`."""

import ppy  # noqa: F401, I001  first, so that `classifier.ppy` can be imported
import classifier
import torch

classifier.Classifier.forward = torch.compile(classifier.Classifier.forward)
classifier.main()
