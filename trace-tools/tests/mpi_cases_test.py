#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Archives as TAU, EZTrace, coarse clocks, probes and several threads of a rank make them: who waited for whom, and why.
Written with OTF2's python module; expected values follow from the times by Scalasca's definitions.

    mpi_cases_test.py BIN     exit code 77: no module otf2
"""
import csv
import pathlib
import subprocess
import sys
import tempfile

try:
    import otf2
    from otf2.enums import CollectiveOp, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole
except ImportError:
    print("SKIPPED: no python module otf2")
    sys.exit(77)

US, MS = 1000, 1000 * 1000
NO_ROOT = 0xFFFFFFFF


def by_name(name):
    return Paradigm.MPI if name.startswith("MPI_") else Paradigm.USER


class Job:
    """An archive of some ranks and threads; each begins in `main`, and the ranks' first threads initialise MPI."""

    def __init__(self, folder, ranks, threads=1, resolution=10 ** 9, paradigm=by_name, init_end=2 * US, suffix=""):
        self.trace = otf2.writer.open(str(folder), timer_resolution=resolution)
        self.writer = self.trace.__enter__()
        defined = self.writer.definitions
        node = defined.system_tree_node("node", "node", parent=defined.system_tree_node("machine", "machine"))
        places = [(rank, thread) for rank in range(ranks) for thread in range(threads)]
        groups = [defined.location_group(f"MPI Rank {rank}", location_group_type=LocationGroupType.PROCESS,
                                         system_tree_parent=node) for rank in range(ranks)]
        locations = {place: defined.location(f"thread {place[1]}", type=LocationType.CPU_THREAD, group=groups[place[0]])
                     for place in places}
        self.at = {place: self.writer.event_writer_from_location(locations[place]) for place in places}
        defined.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI,
                      members=[locations[rank, 0] for rank in range(ranks)])
        group = defined.group("world", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=list(range(ranks)))
        self.world, self.other = defined.comm("MPI_COMM_WORLD", group=group), defined.comm("dup", group=group)
        self.defined, self.paradigm, self.suffix, self.regions, self.ranks = defined, paradigm, suffix, {}, ranks
        for rank in range(ranks):
            self.enter(rank, 0, "main")
            self.call(rank, "MPI_Init", 1 if init_end > 1 else 0, init_end)

    def region(self, name):
        if name not in self.regions:
            full = name + self.suffix if name.startswith("MPI_") else name
            self.regions[name] = self.defined.region(full, region_role=RegionRole.FUNCTION, paradigm=self.paradigm(full))
        return self.regions[name]

    def enter(self, rank, time, name, thread=0):
        self.at[rank, thread].enter(time, self.region(name))

    def leave(self, rank, time, name, thread=0):
        self.at[rank, thread].leave(time, self.region(name))

    def call(self, rank, name, begin, end, thread=0):
        self.enter(rank, begin, name, thread)
        self.leave(rank, end, name, thread)

    def send(self, rank, to, begin, end, tag=0):
        self.enter(rank, begin, "MPI_Send")
        self.at[rank, 0].mpi_send(begin, to, self.world, tag, 8)
        self.leave(rank, end, "MPI_Send")

    def receive(self, rank, source, begin, end, name="MPI_Recv", tag=0, thread=0):
        self.enter(rank, begin, name, thread)
        self.at[rank, thread].mpi_recv(end, source, self.world, tag, 8)
        self.leave(rank, end, name, thread)

    def collective(self, rank, name, operation, begin, end, thread=0):
        writer = self.at[rank, thread]
        self.enter(rank, begin, name, thread)
        writer.mpi_collective_begin(begin)
        writer.mpi_collective_end(end, operation, self.other if thread else self.world, NO_ROOT, 8, 8)
        self.leave(rank, end, name, thread)

    def barrier(self, rank, begin, end):
        self.collective(rank, "MPI_Barrier", CollectiveOp.BARRIER, begin, end)

    def finish(self, time, tick=US):
        for rank in range(self.ranks):
            self.call(rank, "MPI_Finalize", time, time + tick)
            self.leave(rank, time + tick, "main")
        self.trace.__exit__(None, None, None)


class Analysis:
    def __init__(self, programs, folder):
        anchor = folder / "traces.otf2"

        def run(tool):
            done = subprocess.run([programs / tool, anchor, "-o", folder / tool], capture_output=True, text=True)
            assert done.returncode == 0 and done.stderr == "", (tool, done.stderr)
            return done.stdout

        def table(file, key, value):
            with open(folder / file, newline="") as rows:
                return {key(row): round(float(row[value]) * 1e9) for row in csv.DictReader(rows) if float(row[value]) > 0}

        self.printed = run("trace-waits")
        run("trace-path")
        self.waits = table("trace-waits/waits.csv", lambda row: (row["pattern"], row["region"], row["rank"]), "seconds")
        self.costs = table("trace-path/path.csv", lambda row: (row["region"], row["rank"]), "delay_cost_seconds")
        self.path = table("trace-path/path.csv", lambda row: (row["region"], row["rank"]), "seconds")
        waited = sum(ns for (pattern, _, _), ns in self.waits.items() if not pattern.endswith("completion"))
        assert abs(sum(self.costs.values()) - waited) <= 2, (self.costs, self.waits)


def check_tau(folder, analyse):
    """TAU gives each region with "mpi" in its name the paradigm MPI: a user's function of that kind is not an MPI
    call."""
    halo = "halo_mpi [{halo.c} {10,1}-{30,1}]"
    job = Job(folder, 2, paradigm=lambda name: Paradigm.MPI if "mpi" in name.lower() else Paradigm.USER, suffix="()")
    job.send(0, 1, 25 * MS, 26 * MS)
    job.enter(1, 10 * MS, halo)
    job.receive(1, 0, 20 * MS, 30 * MS)
    job.leave(1, 31 * MS, halo)
    job.finish(40 * MS)
    found = analyse()
    assert found.waits == {("mpi_latesender", "MPI_Recv()", "1"): 5 * MS}, found.waits
    assert found.costs == {("main", "0"): 5 * MS}, found.costs


def check_user(folder, analyse):
    """EZTrace gives MPI calls the paradigm user; a user's function MPI_Halo is not an MPI call."""
    job = Job(folder, 2, paradigm=lambda name: Paradigm.USER)
    job.enter(1, 2 * MS, "MPI_Halo_exchange")
    job.receive(1, 0, 4 * MS, 10 * MS)
    job.leave(1, 11 * MS, "MPI_Halo_exchange")
    job.send(0, 1, 9 * MS, 9 * MS + US)
    job.barrier(0, 20 * MS, 25 * MS)
    job.barrier(1, 24 * MS, 25 * MS)
    job.finish(40 * MS)
    found = analyse()
    assert found.waits == {("mpi_latesender", "MPI_Recv", "1"): 5 * MS,
                           ("mpi_barrier_wait", "MPI_Barrier", "0"): 4 * MS}, found.waits


def check_probe(folder, analyse):
    """A probe waits for its message as the receive would; the late sender is to blame, not the rank that waits."""
    job = Job(folder, 2)
    job.call(0, "MPI_Mprobe", 5 * MS, 25 * MS + 50 * US)
    job.receive(0, 1, 25 * MS + 60 * US, 25 * MS + 70 * US, "MPI_Mrecv")
    job.enter(1, 3 * MS, "work")
    job.leave(1, 25 * MS, "work")
    job.send(1, 0, 25 * MS, 25 * MS + 20 * US)
    job.finish(40 * MS)
    found = analyse()
    assert found.waits == {("mpi_latesender", "MPI_Mprobe", "0"): 20 * MS}, found.waits
    assert found.costs == {("work", "1"): 20 * MS}, found.costs
    assert found.path["work", "1"] == 22 * MS and found.path["MPI_Mprobe", "0"] == 50 * US, found.path


def check_polling(folder, analyse):
    """A loop of MPI_Iprobe waits while it finds no message: 20 calls of 0.9 ms, and 0.5 ms of the last one."""
    job = Job(folder, 2)
    for i in range(20):
        job.call(0, "MPI_Iprobe", (5 + i) * MS, (5 + i) * MS + 900 * US)
    job.call(0, "MPI_Iprobe", 25 * MS, 25 * MS + 900 * US)
    job.receive(0, 1, 26 * MS, 26 * MS + 10 * US)
    job.enter(1, 3 * MS, "work")
    job.leave(1, 25 * MS + 500 * US, "work")
    job.send(1, 0, 25 * MS + 500 * US, 25 * MS + 520 * US)
    job.barrier(0, 30 * MS, 30 * MS + 10 * US)
    job.barrier(1, 26 * MS, 30 * MS + 10 * US)
    job.finish(40 * MS)
    found = analyse()
    assert found.waits["mpi_latesender", "MPI_Iprobe", "0"] == 20 * 900 * US + 500 * US, found.waits
    assert found.costs["work", "1"] == 18_500 * US, found.costs
    assert found.costs["MPI_Iprobe", "0"] <= 400 * US, found.costs  # after the message had arrived
    assert found.path["work", "1"] == 22_500 * US and sum(found.path.values()) == 40 * MS + US, found.path


def check_one_tick(folder, analyse):
    """With a clock of 1 kHz the send and the receive, the last enter and the first leave have the same time."""
    job = Job(folder, 3, resolution=1000, init_end=1)
    job.receive(0, 1, 5, 10)
    job.send(1, 0, 10, 10)
    for rank, begin in ((0, 15), (1, 18), (2, 20)):
        job.barrier(rank, begin, 20)
    job.finish(30, 1)
    found = analyse()
    assert found.waits == {("mpi_latesender", "MPI_Recv", "0"): 5 * MS, ("mpi_barrier_wait", "MPI_Barrier", "0"): 5 * MS,
                           ("mpi_barrier_wait", "MPI_Barrier", "1"): 2 * MS}, found.waits
    assert {rank for _, rank in found.costs} == {"1", "2"}, found.costs
    assert sum(ns for (_, rank), ns in found.costs.items() if rank == "1") == 5 * MS, found.costs


def check_late_thread(folder, analyse):
    """A thread that begins at 200 ms waits 20 ms: since then rank 0 computed for 25 ms, and was in main for 5 ms."""
    job = Job(folder, 2, threads=2, init_end=100 * MS)
    job.enter(1, 200 * MS, "worker", 1)
    job.receive(1, 0, 210 * MS, 231 * MS, thread=1)
    job.leave(1, 240 * MS, "worker", 1)
    job.call(0, "compute", 205 * MS, 230 * MS)
    job.send(0, 1, 230 * MS, 231 * MS)
    job.finish(300 * MS)
    found = analyse()
    assert found.costs == {("compute", "0"): round(20 * MS * 25 / 30), ("main", "0"): round(20 * MS * 5 / 30)}, found.costs


def check_two_threads(folder, analyse):
    """Two threads of each rank in collectives of their own: each is matched with that of its communicator."""
    job = Job(folder, 2, threads=2, init_end=500 * US)
    for rank in (0, 1):
        job.enter(rank, 600 * US, "other", 1)
    job.collective(0, "MPI_Allreduce", CollectiveOp.ALLREDUCE, 1000 * US, 12_100 * US)
    job.call(1, "late_work", 510 * US, 11_000 * US)
    job.collective(1, "MPI_Allreduce", CollectiveOp.ALLREDUCE, 11_000 * US, 12_200 * US)
    job.leave(0, 11_940 * US, "other", 1)
    job.leave(1, 11_890 * US, "other", 1)
    job.collective(1, "MPI_Barrier", CollectiveOp.BARRIER, 11_900 * US, 12_500 * US, 1)
    job.collective(0, "MPI_Barrier", CollectiveOp.BARRIER, 11_950 * US, 12_510 * US, 1)
    job.finish(13 * MS)
    found = analyse()
    assert found.waits["mpi_wait_nxn", "MPI_Allreduce", "0"] == 10 * MS, found.waits
    assert found.waits["mpi_barrier_wait", "MPI_Barrier", "1"] == 50 * US, found.waits
    assert "rank 1 made the others wait 10.00 ms" in found.printed and ": late_work\n" in found.printed, found.printed


def check_late_request(folder, analyse):
    """A receive counts from the start of its call, although its request is recorded after the send has ended."""
    for request in (1, 10):
        job = Job(folder / str(request), 2, init_end=500 * US)
        job.send(0, 1, 1 * MS, 10 * MS + 5 * US)
        job.call(1, "work", 501 * US, 10 * MS)
        job.enter(1, 10 * MS, "MPI_Irecv")
        job.at[1, 0].mpi_irecv_request(10 * MS + request * US, 1)
        job.leave(1, 10 * MS + 11 * US, "MPI_Irecv")
        job.enter(1, 10 * MS + 100 * US, "MPI_Wait")
        job.at[1, 0].mpi_irecv(10 * MS + 101 * US, 0, job.world, 0, 8, 1)
        job.leave(1, 10 * MS + 101 * US, "MPI_Wait")
        job.finish(11 * MS)
        found = analyse(folder / str(request))
        assert found.waits == {("mpi_latereceiver", "MPI_Send", "0"): 9 * MS}, (request, found.waits)


def main(programs):
    for check in (check_tau, check_user, check_probe, check_polling, check_one_tick, check_late_thread, check_two_threads,
                  check_late_request):
        with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as name:
            folder = pathlib.Path(name) / "archive"
            if check is check_late_request:
                folder.mkdir()
            check(folder, lambda where=folder: Analysis(programs, where))
        print(check.__doc__.strip().split("\n")[0])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
