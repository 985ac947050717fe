import torch

model = torch.nn.Linear(3, 2)
batch = torch.zeros(4, 3)
left = torch.zeros(4, 16)
right = torch.zeros(32, 8)
sizes = []
hidden = 4


def grow():
    global hidden
    hidden = "wide"


print(batch.sum(dimm=1))
print(left @ right)
sizes.push(3)
print("batch " + sizes)
print("hidden " + hidden)
