from dataclasses import dataclass

import torch


@dataclass
class Config:
    rate: float = 0.1
    steps: int = 10


class Model(torch.nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, batch):
        return self.layr(batch)


def main():
    config = Config()
    model = Model(config)
    optimizer = torch.optim.SGD(model.parameters(), lr=config.rat)
    layer = torch.nn.Linear(2, 2)
    print(layer.weigth, torch.nn.Conv2D)
    optimizer.zero_gard()
    model.trian()


main()
