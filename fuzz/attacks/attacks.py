#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks every program from outside: damaged archives, tables and flags, kills, full disks, planted files.

    attacks.py --bin build/release/bin                        # all parts, 2,000 tries
    attacks.py --bin build/release/bin --only flips --tries 400
    attacks.py --bin build/release/bin --seed 7 --only archives --first 31 --tries 1     # one failure again

Each part is a file beside this one with a function attempts(context, count): it yields (name, failure or None) for
each try, whose random numbers follow from seed, part and number alone. What a failure was made of stays on disk.
"""
import argparse
import importlib
import pathlib
import sys
import time

from context import Context

# Share of the tries of each part. If the file or the programs of a part are missing, the other parts get its share.
SHARES = {
    "archives": 700,
    "flips": 400,
    "tables": 300,
    "data": 150,
    "checkpoints": 100,
    "kill": 100,
    "disks": 150,
    "planted": 100,
    "records": 120,
    "neighbours": 40,
    "texts": 80,
    "sweeps": 60,
}


def load(names):
    """The available parts, by name."""
    parts = {}
    for name in names:
        try:
            parts[name] = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
    return parts


def counts_of(parts, tries):
    whole = sum(SHARES[name] for name in parts)
    return {name: max(1, round(tries * SHARES[name] / whole)) for name in parts}


def attack(name, part, context, count, show):
    """Returns the number of tries and of failures."""
    tried = failures = 0
    for what, failure in part.attempts(context, count):
        tried += 1
        if failure:
            failures += 1
            again = f"--seed {context.seed} --only {name} --first {context.number} --tries 1"
            print(f"FAILED {name}: {what}: {failure}\n       files: {context.keep()}  again: attacks.py {again}",
                  flush=True)
        elif show:
            print(f"ok {name}: {what}", flush=True)
        context.clear()
        if context.out_of_time():
            break
    return tried, failures


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the programs are, such as build/release/bin")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tries", type=int, default=2000, help="of all parts together (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first try of each part")
    parser.add_argument("--only", nargs="+", choices=SHARES, metavar="PART", help=f"of: {', '.join(SHARES)}")
    parser.add_argument("--minutes", type=float, default=30, help="the most that it may take (default %(default)s)")
    parser.add_argument("--patience", type=float, default=10,
                        help="seconds after which a program hangs (default %(default)s)")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("attacks-failures"),
                        help="where the files of failures go (default %(default)s)")
    parser.add_argument("--show", action="store_true", help="show every try")
    return parser.parse_args(words)


def main(words):
    options = parse(words)
    begin = time.monotonic()
    parts = load(options.only or SHARES)
    with Context(options) as context:
        parts = {name: part for name, part in parts.items()
                 if all(context.program(program) for program in getattr(part, "NEEDS", ()))}
        if not parts:
            print("attacks: none of the programs is there", file=sys.stderr)
            return 77
        results = {}
        for name, count in counts_of(parts, options.tries).items():
            context.begin(name)
            results[name] = attack(name, parts[name], context, count, options.show)
            if context.out_of_time():
                print(f"FAILED: not done after {options.minutes} min", flush=True)
                break
        unfinished = context.out_of_time()
    tried = sum(tries for tries, _ in results.values())
    failures = sum(failed for _, failed in results.values()) + unfinished
    detail = ", ".join(f"{name} {failed}/{tries}" for name, (tries, failed) in results.items())
    print(f"attacks: {tried} tries, {failures} failures in {time.monotonic() - begin:.0f} s "
          f"(seed {options.seed}; failures/tries: {detail})")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
