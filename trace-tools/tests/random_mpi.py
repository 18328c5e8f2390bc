#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Archives of random MPI programs, by Python's otf2, and what an analysis must find in them.

    random_mpi.py DIRECTORY FIRST COUNT

writes DIRECTORY/<seed>/traces.otf2 for COUNT seeds from FIRST on, and beside each truth.csv: pattern,rank,ns, and in
every second one the row `slow,RANK,ns`: that rank works so much longer each time, five times the noise of all.

A program is carried out statement by statement, on a clock for each rank: what a call needs of another rank, a
statement before has done. The wait states follow from when calls began and ended, by Scalasca's definitions.
"""
import collections
import csv
import os
import random
import sys

from otf2 import CollectiveOp

import random_mpi_archive
from random_mpi_archive import NO_ROOT

NOISE = 20_000  # ns, of each piece of work
TO_ALL = {"MPI_Allreduce": CollectiveOp.ALLREDUCE, "MPI_Allgather": CollectiveOp.ALLGATHER,
          "MPI_Alltoall": CollectiveOp.ALLTOALL, "MPI_Reduce_scatter": CollectiveOp.REDUCE_SCATTER}
FROM_ROOT = {"MPI_Bcast": CollectiveOp.BCAST, "MPI_Scatter": CollectiveOp.SCATTER}
TO_ROOT = {"MPI_Reduce": CollectiveOp.REDUCE, "MPI_Gather": CollectiveOp.GATHER}
BARRIER = {"MPI_Barrier": CollectiveOp.BARRIER}
BACKGROUND = {"MPI_Iallreduce": CollectiveOp.ALLREDUCE, "MPI_Ibarrier": CollectiveOp.BARRIER}


class Call:
    """An MPI call of a rank, and the messages that it sent, received and posted."""

    def __init__(self, rank, name, begin):
        self.rank, self.name, self.begin, self.end = rank, name, begin, None
        self.first, self.last = [], []  # events directly after its start and before its end
        self.sends, self.received = [], []  # halves of messages that end in it


class Half:
    """Half of a message: its send or its receive. The k-th send of a channel belongs to the k-th posted receive."""

    def __init__(self, call, request=None, synchronous=False):
        self.call, self.request, self.synchronous = call, request, synchronous
        self.latency = 0
        self.other = None


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ranks = self.random.randint(2, 6)
        self.now = [self.random.randint(1_000_000, 1_050_000) for _ in range(self.ranks)]
        self.slow = self.random.randrange(self.ranks) if seed % 2 else None
        self.communicators = [list(range(self.ranks))]
        for _ in range(self.random.randint(0, 2)):
            size = self.random.randint(1, self.ranks)
            self.communicators.append(sorted(self.random.sample(range(self.ranks), size)))
        self.visits = [[] for _ in range(self.ranks)]  # by rank: Calls of MPI, or regions (name, begin, end)
        self.halves = collections.defaultdict(lambda: ([], []))  # of a channel: sends and receives
        self.open = [[] for _ in range(self.ranks)]  # requests: (kind, what), in any order
        self.requests = [0] * self.ranks
        self.due = []  # other halves of messages: (statement, channel)
        self.collectives = []  # (kind, root, calls by rank)
        self.starts = []  # begun in the background: (communicator, calls by rank, latency)
        self.completions = []  # (call, number in starts)

    # ------------------------------------------------------------------------------------------------------ carry out

    def a_moment(self, least=1, most=3_000):
        return self.random.randint(least, most)

    def begin(self, rank, name):
        return Call(rank, name, self.now[rank])

    def end(self, call, at):
        call.end = max(at, call.begin + 1)
        self.visits[call.rank].append(call)
        self.now[call.rank] = call.end

    def work(self):
        name = self.random.choice(("forward", "backward"))
        for rank in range(self.ranks):
            length = 200_000 + self.random.randint(-NOISE, NOISE) + (5 * NOISE if rank == self.slow else 0)
            self.visits[rank].append((name, self.now[rank], self.now[rank] + length))
            self.now[rank] += length + self.a_moment(0, 200)

    def collective(self):
        number = self.random.randrange(len(self.communicators))
        members = self.communicators[number]
        kinds = self.random.choice((TO_ALL, FROM_ROOT, TO_ROOT, BARRIER))
        name = self.random.choice(list(kinds))
        root = self.random.randrange(len(members)) if kinds in (FROM_ROOT, TO_ROOT) else NO_ROOT
        calls = [self.begin(rank, name) for rank in members]
        last = max(call.begin for call in calls)
        for call in calls:
            ready = call.begin
            if kinds in (TO_ALL, BARRIER) or (kinds is TO_ROOT and call is calls[root]):
                ready = last
            elif kinds is FROM_ROOT:
                ready = max(call.begin, calls[root].begin)
            call.first.append(("collective_begin",))
            call.last.append(("collective_end", kinds[name], number, root))
            self.end(call, ready + self.a_moment())
        self.collectives.append((kinds, root, calls))

    def new_request(self, rank):
        self.requests[rank] += self.random.randint(1, 3)
        return self.requests[rank]

    def start_collective(self):
        number = self.random.randrange(len(self.communicators))
        name = self.random.choice(list(BACKGROUND))
        calls = []
        for rank in self.communicators[number]:
            call = self.begin(rank, name)
            request = self.new_request(rank)
            call.first.append(("collective_request", request))
            self.end(call, call.begin + self.a_moment())
            self.open[rank].append(("collective", (len(self.starts), request, BACKGROUND[name], number)))
            calls.append(call)
        self.starts.append((number, calls, self.a_moment(1, 20_000)))

    def wait_for_collective(self, rank, what):
        number, request, operation, communicator = what
        _, calls, latency = self.starts[number]
        call = self.begin(rank, "MPI_Wait")
        call.last.append(("collective_complete", operation, communicator, request))
        self.end(call, max(call.begin + self.a_moment(), max(one.begin for one in calls) + latency))
        self.completions.append((call, number))

    def add_half(self, channel, side, half):
        halves = self.halves[channel]
        halves[side].append(half)
        number = len(halves[side]) - 1
        if number < len(halves[1 - side]):
            half.other = halves[1 - side][number]
            half.other.other = half
            half.latency = half.other.latency = self.a_moment(1, 20_000)

    @staticmethod
    def over(half):
        """When a message has arrived, or its synchronous send has ended. Both halves are known."""
        return max(half.call.begin, half.other.call.begin) + half.latency

    def counts(self, channel):
        sends, receives = self.halves[channel]
        return len(sends), len(receives)

    def send_name(self, blocking, synchronous):
        """The call of a standard send, which may be a synchronous one."""
        ssend, send = ("MPI_Ssend", "MPI_Send") if blocking else ("MPI_Issend", "MPI_Isend")
        return self.random.choice((ssend, send)) if synchronous else send

    def send(self, channel, blocking, synchronous):
        number, source, target, tag = channel
        rank = self.communicators[number][source]
        name = self.send_name(blocking, synchronous)
        call = self.begin(rank, name)
        half = Half(call, None if blocking else self.new_request(rank), synchronous)
        call.first.append(("send", target, number, tag, half.request))
        self.add_half(channel, 0, half)
        if blocking:
            call.sends.append(half)
            at = self.over(half) if synchronous else call.begin
            self.end(call, at + self.a_moment())
        else:
            self.open[rank].append(("send", half))
            self.end(call, call.begin + self.a_moment())

    def receive(self, channel, blocking):
        number, source, target, tag = channel
        rank = self.communicators[number][target]
        call = self.begin(rank, "MPI_Recv" if blocking else "MPI_Irecv")
        half = Half(call, None if blocking else self.new_request(rank))
        half.channel = channel
        self.add_half(channel, 1, half)
        if blocking:
            call.received.append(half)
            call.last.append(("receive", source, number, tag, None))
            self.end(call, max(call.begin + self.a_moment(), self.over(half)))
        else:
            call.first.append(("receive_request", half.request))
            self.open[rank].append(("receive", half))
            self.end(call, call.begin + self.a_moment())

    def together(self, channel):
        """A synchronous send and MPI_Recv."""
        number, source, target, tag = channel
        members = self.communicators[number]
        sender = self.begin(members[source], self.send_name(True, True))
        receiver = self.begin(members[target], "MPI_Recv")
        send, receive = Half(sender, None, True), Half(receiver)
        self.add_half(channel, 0, send)
        self.add_half(channel, 1, receive)
        sender.first.append(("send", target, number, tag, None))
        receiver.last.append(("receive", source, number, tag, None))
        sender.sends.append(send)
        receiver.received.append(receive)
        self.end(sender, self.over(send) + self.a_moment())
        self.end(receiver, self.over(receive) + self.a_moment())

    def swap(self, channel):
        """MPI_Sendrecv on both sides."""
        number, one, other, tag = channel
        members = self.communicators[number]
        calls = {one: self.begin(members[one], "MPI_Sendrecv"), other: self.begin(members[other], "MPI_Sendrecv")}
        for source, target in ((one, other), (other, one)):
            send, receive = Half(calls[source]), Half(calls[target])
            self.add_half((number, source, target, tag), 0, send)
            self.add_half((number, source, target, tag), 1, receive)
            calls[source].first.append(("send", target, number, tag, None))
            calls[target].last.append(("receive", source, number, tag, None))
            calls[source].sends.append(send)
            calls[target].received.append(receive)
        for call in calls.values():
            self.end(call, self.over(call.received[0]) + self.a_moment())

    def message(self):
        number = self.random.choice([i for i, members in enumerate(self.communicators) if len(members) > 1])
        source, target = self.random.sample(range(len(self.communicators[number])), 2)
        channel = (number, source, target, self.random.randrange(2))
        sent, posted = self.counts(channel)
        back_sent, back_posted = self.counts((number, target, source, channel[3]))
        kind = self.random.randrange(8)
        if kind == 0 and sent == posted:
            self.together(channel)
        elif kind == 1 and sent == posted and back_sent == back_posted:
            self.swap(channel)
        elif kind <= 3:
            self.send(channel, True, False)
            self.due.append(("receive", channel))
        elif kind <= 5:
            self.send(channel, False, self.random.random() < 0.5)
            self.due.append(("receive", channel))
        else:
            self.receive(channel, False)
            self.due.append(("send", channel))

    def other_half(self, position):
        what, channel = self.due.pop(position)
        sent, posted = self.counts(channel)
        blocking = self.random.random() < 0.5
        if what == "receive":
            self.receive(channel, blocking and sent > posted)
        else:
            synchronous = self.random.random() < 0.5
            self.send(channel, blocking, synchronous and (posted > sent or not blocking))

    def can_end(self, entry):
        kind, what = entry
        return kind == "collective" or what.other is not None or (kind == "send" and not what.synchronous)

    def wait(self, rank, several):
        entries = [entry for entry in self.open[rank] if self.can_end(entry)]
        if not entries:
            return
        self.random.shuffle(entries)
        if not several or entries[0][0] == "collective":
            entries = entries[:1]
        else:
            entries = [entry for entry in entries if entry[0] != "collective"][:self.random.randint(1, 6)]
        for entry in entries:
            self.open[rank].remove(entry)
        if entries[0][0] == "collective":
            return self.wait_for_collective(rank, entries[0][1])
        call = self.begin(rank, "MPI_Waitall" if several else "MPI_Wait")
        at = call.begin + self.a_moment()
        for kind, half in entries:
            if kind == "send":
                call.sends.append(half)
                call.last.append(("send_complete", half.request))
                at = max(at, self.over(half) if half.synchronous else 0)
            else:
                call.received.append(half)
                number, source, _, tag = half.channel
                call.last.append(("receive", source, number, tag, half.request))
                at = max(at, self.over(half))
        self.end(call, at)

    def carry_out(self):
        for rank in range(self.ranks):
            self.end(self.begin(rank, "MPI_Init"), max(self.now) + self.a_moment())
        for _ in range(self.random.randint(10, 25)):
            self.work()
            for _ in range(self.random.randint(0, 5)):
                pick = self.random.random()
                if pick < 0.25:
                    self.collective()
                elif pick < 0.32:
                    self.start_collective()
                elif pick < 0.65:
                    self.message()
                elif pick < 0.8 and self.due:
                    self.other_half(self.random.randrange(len(self.due)))
                else:
                    self.wait(self.random.randrange(self.ranks), self.random.random() < 0.5)
        while self.due:
            self.other_half(0)
        for rank in range(self.ranks):
            while self.open[rank]:
                self.wait(rank, self.random.random() < 0.5)
        for rank in range(self.ranks):
            self.end(self.begin(rank, "MPI_Finalize"), max(self.now) + self.a_moment())

    # ---------------------------------------------------------------------------------------------------------- truth

    def truth(self):
        waits = collections.Counter()

        def count(pattern, call, ns):
            if ns > 0:
                waits[pattern, call.rank] += ns

        for kinds, root, calls in self.collectives:
            last = max(call.begin for call in calls)
            first_out = min(call.end for call in calls)
            if kinds in (TO_ALL, BARRIER):
                wait, completion = (("mpi_wait_nxn", "mpi_nxn_completion") if kinds is TO_ALL else
                                    ("mpi_barrier_wait", "mpi_barrier_completion"))
                for call in calls:
                    count(wait, call, last - call.begin)
                    count(completion, call, call.end - first_out)
            elif kinds is FROM_ROOT:
                for call in calls:
                    count("mpi_latebroadcast", call, calls[root].begin - call.begin)
            else:
                count("mpi_earlyreduce", calls[root], last - calls[root].begin)
        for call, number in self.completions:
            count("mpi_icollective_exposed", call, call.end - call.begin)
            last = max(start.begin for start in self.starts[number][1])
            count("mpi_icollective_wait", call, min(last, call.end) - call.begin)
        for visits in self.visits:
            for call in visits:
                if not isinstance(call, Call):
                    continue
                late_sender = max([half.other.call.begin - call.begin for half in call.received], default=0)
                count("mpi_latesender", call, late_sender)
                if late_sender > 0 or call.name == "MPI_Sendrecv":
                    continue
                posts = [half.other.call.begin for half in call.sends]
                count("mpi_latereceiver", call,
                      max([post - call.begin for post in posts if post < call.end], default=0))
        return waits


def main():
    directory, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for seed in range(first, first + count):
        program = Program(seed)
        program.carry_out()
        place = os.path.join(directory, str(seed))
        os.makedirs(place)
        random_mpi_archive.write(program, place)
        with open(os.path.join(place, "truth.csv"), "w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(("pattern", "rank", "ns"))
            for (pattern, rank), ns in sorted(program.truth().items()):
                table.writerow((pattern, rank, ns))
            if program.slow is not None:
                table.writerow(("slow", program.slow, 5 * NOISE))


if __name__ == "__main__":
    main()
