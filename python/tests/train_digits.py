# SPDX-License-Identifier: Apache-2.0
"""A typical training that does not use Crosstalk: a CNN learns the digits, on all ranks of torchrun or
mpirun by DistributedDataParallel over gloo. Prints how many steps it took and how long one was by its own timer.

    train_digits.py DIGITS.csv.gz SECONDS
"""

import gzip
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def number(*names):
    return next((int(os.environ[name]) for name in names if name in os.environ), 0)


def digits(path):
    with gzip.open(path, "rt") as lines:
        rows = torch.tensor([[float(cell) for cell in line.split(",")] for line in lines])
    return TensorDataset(rows[:, :-1].reshape(-1, 1, 8, 8) / 16.0, rows[:, -1].long())


def network():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 32, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(32, 64, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(64 * 64, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 10),
    )


def main(path, seconds):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    rank = number("RANK", "OMPI_COMM_WORLD_RANK")
    size = max(1, number("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"))
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29671")
    dist.init_process_group("gloo", rank=rank, world_size=size)
    data = digits(path)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=64, sampler=sampler, num_workers=2, persistent_workers=True)
    model = DistributedDataParallel(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_of = torch.nn.CrossEntropyLoss()
    steps, spent, epoch, going = 0, 0.0, 0, True
    began = time.perf_counter()
    while going:
        sampler.set_epoch(epoch)
        epoch += 1
        before = time.perf_counter()
        for images, labels in loader:
            optimizer.zero_grad()
            loss = loss_of(model(images), labels)
            loss.backward()
            optimizer.step()
            now = time.perf_counter()
            steps, spent, before = steps + 1, spent + now - before, now
            end = torch.tensor([float(now - began > seconds)])
            if steps % 16 == 0:
                dist.all_reduce(end)
                going = end.item() == 0.0
            if not going:
                break
    if rank == 0:
        print(f"{steps} steps, {1e3 * spent / steps:.4f} ms each, loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
