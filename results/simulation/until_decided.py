#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often runs that end when decided are right, and how long they take, by the boundary of docs/statistics.md.

    until_decided.py [RUNS]     default 10000; needs numpy

Block effects are normal, with a standard deviation of one budget; checks come every second block from the tenth to the
sixtieth, which is the planned end. Shares no code with Crosstalk. `once` spends the whole error on the checks on the
way, also at the end.
"""
import math
import sys

import numpy

FIRST, LAST, EVERY = 10, 60, 2
ALPHA, RHO = 0.05, 0.6


def student(alpha, degrees):
    """Two-sided quantile of Student's t, from its density by the trapezoidal rule."""
    x = numpy.linspace(0.0, 60.0, 600001)
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    density = scale * (1 + x * x / degrees) ** (-(degrees + 1) / 2)
    share = numpy.concatenate([[0.0], numpy.cumsum((density[1:] + density[:-1]) / 2 * numpy.diff(x))])
    return float(numpy.interp((1 - alpha) / 2, share, x))


def half_width(blocks, alpha, halves):
    """In standard errors."""
    if halves and blocks == LAST:
        return student(alpha / 2, blocks - 1)
    grown = blocks * RHO * RHO
    of_checks = alpha / 2 if halves else alpha
    return math.sqrt(2 * (grown + 1) / grown * math.log(math.sqrt(grown + 1) / of_checks))


def judged(mean, error, blocks, halves):
    """[run, noise]: -1 safe, 1 unsafe, 0 undecided. Decided noises leave their share of the error to the others."""
    noises = mean.shape[1]
    widths = numpy.array([0.0] + [half_width(blocks, ALPHA / among, halves) for among in range(1, noises + 1)])
    words = numpy.zeros(mean.shape, int)
    for _ in range(noises):
        among = numpy.maximum(1, (words == 0).sum(axis=1))
        width = widths[among][:, None] * error
        now = numpy.where(mean + width < 1, -1, numpy.where(mean - width > 1, 1, 0))
        words = numpy.where(words == 0, now, words)
    return words


def ended(effects, runs, halves, random):
    """Verdicts [run, noise] at the end, and the share of the planned length that each run took."""
    blocks = random.standard_normal((runs, len(effects), LAST)) + numpy.array(effects)[None, :, None]
    sums, squares = blocks.cumsum(axis=2), (blocks * blocks).cumsum(axis=2)
    words, length, done = numpy.zeros((runs, len(effects)), int), numpy.ones(runs), numpy.zeros(runs, bool)
    for count in range(FIRST, LAST + 1, EVERY):
        mean = sums[:, :, count - 1] / count
        variance = (squares[:, :, count - 1] - count * mean * mean) / (count - 1)
        now = judged(mean, numpy.sqrt(variance / count), count, halves)
        words[~done], length[~done] = now[~done], count / LAST
        done |= (now != 0).all(axis=1)
    return words, length


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    random = numpy.random.default_rng(7)
    print("boundary  noises  effect/budget  length  all decided  any safe  any unsafe")
    for name, halves in (("once", False), ("halves", True)):
        for noises in (1, 3):
            for effect in (0.0, 0.5, 0.7, 1.0, 1.4, 2.0):
                words, length = ended([effect] * noises, runs, halves, random)
                print(f"{name:8} {noises:7d} {effect:14.1f} {length.mean():7.2f} {(words != 0).all(axis=1).mean():12.3f}"
                      f" {(words == -1).any(axis=1).mean():9.3f} {(words == 1).any(axis=1).mean():11.3f}")


main()
