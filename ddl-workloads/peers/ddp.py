#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The peer of ddl-train: PyTorch's DistributedDataParallel over Gloo, or over NCCL on GPUs, trains the same models
with equally large batches, which it holds in memory. Rank 0 prints start and end of each step, in ns of CLOCK_MONOTONIC, one
step per line. Runs under mpirun, or as a single process."""

import argparse
import math
import os
import time

import torch
import torch.distributed
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel


class Block(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.residual = nn.Sequential(
            nn.Conv2d(inputs, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
        self.shortcut = nn.Sequential() if stride == 1 and inputs == width else nn.Sequential(
            nn.Conv2d(inputs, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return torch.relu(self.residual(x) + self.shortcut(x))


def resnet18(width):
    layers = [nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    inputs = width
    for stage in range(4):
        for block in range(2):
            layers.append(Block(inputs, width << stage, 2 if stage > 0 and block == 0 else 1))
            inputs = width << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10))


class Attention(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.heads = heads
        self.input = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.future = torch.ones(context, context, dtype=torch.bool).triu(1)  # no buffer: Gloo sends no bools

    def forward(self, x):
        samples, positions, width = x.shape
        head = width // self.heads
        queries, keys, values = (
            self.input(x).view(samples, positions, 3, self.heads, head).permute(2, 0, 3, 1, 4).unbind(0))
        scores = torch.matmul(queries / math.sqrt(head), keys.transpose(2, 3))
        scores = scores.masked_fill(self.future[:positions, :positions], -math.inf)
        seen = torch.matmul(scores.softmax(-1), values)
        return self.output(seen.transpose(1, 2).reshape(samples, positions, width))


class TransformerBlock(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads, context)
        self.forward_norm = nn.LayerNorm(width)
        self.expand = nn.Linear(width, 4 * width)
        self.contract = nn.Linear(4 * width, width)

    def forward(self, x):
        attended = x + self.attention(self.attention_norm(x))
        return attended + self.contract(functional.gelu(self.expand(self.forward_norm(attended))))


class Gpt(nn.Module):
    def __init__(self, context=128, layers=4, width=128, heads=4, vocabulary=256):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        nn.init.normal_(self.words.weight, 0.0, 0.02)
        self.blocks = nn.Sequential(*(TransformerBlock(width, heads, context) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.blocks(self.words(tokens) + self.positions.weight[:tokens.shape[1]])
        return torch.matmul(self.norm(x), self.words.weight.t()).flatten(0, 1)


def batches_of(model, batch, length):
    """Endless pairs of input and labels, from a few that are made once."""
    generator = torch.Generator().manual_seed(1)
    if model == "gpt":
        tokens = [torch.randint(0, 256, (batch, length + 1), generator=generator) for _ in range(8)]
        made = [(some[:, :-1].contiguous(), some[:, 1:].flatten()) for some in tokens]
    else:
        made = [(torch.rand(batch, 3, 32, 32, generator=generator),
                 torch.randint(0, 10, (batch,), generator=generator)) for _ in range(8)]
    while True:
        yield from made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=["resnet18", "gpt"], required=True)
    parser.add_argument("--width", type=int, default=64, help="channels of resnet18's first stage")
    parser.add_argument("--length", type=int, default=128, help="length of gpt's samples")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--store", help="rendezvous file of the ranks")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    options = parser.parse_args()
    rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", "0"))
    ranks = int(os.environ.get("OMPI_COMM_WORLD_SIZE", "1"))

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    torch.manual_seed(1)
    model = Gpt(options.length) if options.model == "gpt" else resnet18(options.width)
    on_gpu = options.device == "cuda"
    torch.backends.cudnn.allow_tf32 = False  # as in ddl-train
    for module in model.modules():
        if on_gpu and isinstance(module, Attention):
            module.future = module.future.cuda()
    model = model.to(options.device)
    if ranks > 1 or on_gpu:
        store = torch.distributed.FileStore(options.store, ranks)
        torch.distributed.init_process_group("nccl" if on_gpu else "gloo", store=store, rank=rank, world_size=ranks)
        model = DistributedDataParallel(model, broadcast_buffers=False)  # as in ddl-train
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    batches = batches_of(options.model, options.batch, options.length)

    earlier = None
    for _ in range(options.steps):
        begin = time.monotonic_ns()
        inputs, answers = next(batches)
        if on_gpu:
            inputs, answers = (some.pin_memory().to("cuda", non_blocking=True) for some in (inputs, answers))
        loss = functional.cross_entropy(model(inputs), answers)
        if not on_gpu:
            loss.item()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if on_gpu:  # the host runs ahead by a step, as in ddl-train
            if earlier is not None:
                earlier.item()
            earlier = loss.detach()
        if rank == 0:
            print(begin, time.monotonic_ns(), flush=True)


main()
