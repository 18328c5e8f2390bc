#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch training that knows nothing of Crosstalk: a small network on random numbers.

    crosstalk run -- crosstalk-python examples/pytorch/train.py
    crosstalk run -- mpirun -n 2 crosstalk-python examples/pytorch/train.py
"""
import argparse

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=512)
    asked = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(1)
    numbers = torch.randn(4096, 64)
    data = DataLoader(TensorDataset(numbers, numbers.sum(dim=1).gt(0).long()), batch_size=64, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(64, asked.width), torch.nn.ReLU(), torch.nn.Linear(asked.width, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loss_of = torch.nn.CrossEntropyLoss()

    step = 0
    while step < asked.steps:
        for inputs, labels in data:
            optimizer.zero_grad()
            loss = loss_of(model(inputs), labels)
            loss.backward()
            optimizer.step()
            step += 1
            if step % 500 == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)
            if step == asked.steps:
                break


if __name__ == "__main__":
    main()
