# SPDX-License-Identifier: Apache-2.0
"""Trainings that time themselves: forward, backward and update by their own clock, without a word of ours.

    timed_trainings.py accumulation|closure|lightning|trainer STEPS FILE

FILE gets JSON: `steps`, and `shares`, what forward, backward and update took of all steps but the first
five, in percent. A step lasts from one end of the optimizer's step() to the next.
"""

import contextlib
import json
import signal
import sys
import tempfile
import time

import torch

WARM_UP = 5


class Clock:
    def __init__(self):
        self.steps, self.now, self.last_ns = [], {}, time.perf_counter_ns()

    @contextlib.contextmanager
    def times(self, phase):
        begin_ns = time.perf_counter_ns()
        try:
            yield
        finally:
            self.now[phase] = self.now.get(phase, 0) + time.perf_counter_ns() - begin_ns

    def step_ends(self):
        end_ns = time.perf_counter_ns()
        self.steps.append((end_ns - self.last_ns, self.now))
        self.now, self.last_ns = {}, end_ns

    def shares(self):
        steps = self.steps[WARM_UP:]
        whole = sum(length for length, _ in steps)
        return {
            phase: 100 * sum(found.get(phase, 0) for _, found in steps) / whole
            for phase in ("forward", "backward", "update")
        }


clock = Clock()


def spin(ms):
    end_ns = time.perf_counter_ns() + round(ms * 1e6)
    while time.perf_counter_ns() < end_ns:
        pass


class Spins(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        spin(3)
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        spin(6)
        return gradient


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        return Spins.apply(self.linear(x))


def timed(kind):
    """An optimizer of the given class; its update does not include the closure that it calls."""

    class Timed(kind):
        def step(self, closure=None):
            inside_ns = 0

            def timed_closure():
                nonlocal inside_ns
                begin_ns = time.perf_counter_ns()
                try:
                    return closure()
                finally:
                    inside_ns += time.perf_counter_ns() - begin_ns

            begin_ns = time.perf_counter_ns()
            loss = super().step(timed_closure if closure else None)
            spin(4)
            clock.now["update"] = clock.now.get("update", 0) + time.perf_counter_ns() - begin_ns - inside_ns
            clock.step_ends()
            return loss

    return Timed


def loss_of(net):
    with clock.times("forward"):
        return net(torch.randn(4, 8)).pow(2).mean()


def accumulation(steps):
    net = Net()
    optimizer = timed(torch.optim.SGD)(net.parameters(), lr=0.01)
    for _ in range(steps):
        for _ in range(4):
            loss = loss_of(net) / 4
            with clock.times("backward"):
                loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def closure(steps):
    net = Net()
    optimizer = timed(torch.optim.LBFGS)(net.parameters(), max_iter=3, tolerance_grad=0.0, tolerance_change=0.0)

    def evaluate():
        optimizer.zero_grad()
        loss = loss_of(net)
        with clock.times("backward"):
            loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(evaluate)


def lightning(steps):
    import lightning as L

    class Module(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def training_step(self, batch, _):
            with clock.times("forward"):
                return self.net(batch).pow(2).mean()

        def backward(self, loss):
            with clock.times("backward"):
                loss.backward()

        def configure_optimizers(self):
            return timed(torch.optim.SGD)(self.parameters(), lr=0.01)

    data = torch.utils.data.DataLoader(torch.randn(8 * steps, 8), batch_size=8)
    trainer = L.Trainer(
        accelerator="cpu",
        devices=1,
        max_steps=steps,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Module(), data)


def trainer(steps):
    """Hugging Face's Trainer with a small GPT-2 of random weights."""
    import transformers

    class Model(transformers.GPT2LMHeadModel):
        def forward(self, *arguments, **named):
            with clock.times("forward"):
                return super().forward(*arguments, **named)

    torch.manual_seed(1)
    model = Model(transformers.GPT2Config(vocab_size=512, n_positions=64, n_embd=128, n_layer=3, n_head=4))
    texts = [{"input_ids": row, "labels": row} for row in torch.randint(0, 512, (8 * steps, 64))]
    with tempfile.TemporaryDirectory() as folder:
        options = transformers.TrainingArguments(
            folder,
            per_device_train_batch_size=8,
            max_steps=steps,
            report_to=[],
            save_strategy="no",
            logging_strategy="no",
            use_cpu=True,
            disable_tqdm=True,
            remove_unused_columns=False,
        )
        optimizer = timed(torch.optim.AdamW)(model.parameters(), lr=1e-3)
        hugging = transformers.Trainer(model, options, train_dataset=texts, optimizers=(optimizer, None))
        backward = hugging.accelerator.backward

        def timed_backward(*arguments, **named):
            with clock.times("backward"):
                backward(*arguments, **named)

        hugging.accelerator.backward = timed_backward
        hugging.train()


def write(file):
    with open(file, "w") as out:
        json.dump({"steps": len(clock.steps), "shares": clock.shares()}, out)


if __name__ == "__main__":
    torch.set_num_threads(1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    train = {"accumulation": accumulation, "closure": closure, "lightning": lightning, "trainer": trainer}[sys.argv[1]]
    try:
        train(int(sys.argv[2]))
    finally:
        write(sys.argv[3])
