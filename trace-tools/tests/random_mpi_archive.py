# SPDX-License-Identifier: Apache-2.0
"""Writes a program of random_mpi.py, once carried out, as an OTF2 archive."""
import os

import otf2
from otf2 import GroupType, Paradigm

NO_ROOT = 0xFFFFFFFF  # OTF2_COLLECTIVE_ROOT_NONE


def write(program, directory):
    archive = os.path.join(directory, "archive")
    with otf2.writer.open(archive, chunk_size_events=256 * 1024, chunk_size_definitions=256 * 1024,
                          timer_resolution=1_000_000_000) as trace:
        write_events(program, trace)
    for name in os.listdir(archive):
        os.rename(os.path.join(archive, name), os.path.join(directory, name))
    os.rmdir(archive)


def write_events(program, trace):
    define = trace.definitions
    machine = define.system_tree_node("machine", class_name="machine")
    node = define.system_tree_node("node", class_name="node", parent=machine)
    groups = [define.location_group(f"MPI Rank {rank}", system_tree_parent=node) for rank in range(program.ranks)]
    locations = tuple(define.location("Master thread", group=group) for group in groups)
    writers = [trace.event_writer_from_location(location) for location in locations]
    define.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations)
    communicators = []
    for number, members in enumerate(program.communicators):
        group = define.group(f"group {number}", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI,
                             members=tuple(locations[rank] for rank in members))
        communicators.append(define.comm("MPI_COMM_WORLD" if number == 0 else f"comm {number}", group=group))
    regions = {}
    for writer, visits in zip(writers, program.visits):
        for visit in visits:
            name, begin, end = (visit.name, visit.begin, visit.end) if not isinstance(visit, tuple) else visit
            if name not in regions:
                paradigm = Paradigm.MPI if name.startswith("MPI_") else Paradigm.USER
                regions[name] = define.region(name, paradigm=paradigm)
            writer.enter(begin, regions[name])
            if not isinstance(visit, tuple):
                for event in visit.first:
                    write_event(writer, begin, communicators, *event)
                for event in visit.last:
                    write_event(writer, end, communicators, *event)
            writer.leave(end, regions[name])


def write_event(writer, at, communicators, kind, *what):
    if kind == "collective_begin":
        writer.mpi_collective_begin(at)
    elif kind == "collective_end":
        operation, number, root = what
        writer.mpi_collective_end(at, operation, communicators[number], root, 8, 8)
    elif kind == "collective_request":
        writer.non_blocking_collective_request(at, what[0])
    elif kind == "collective_complete":
        operation, number, request = what
        writer.non_blocking_collective_complete(at, operation, communicators[number], NO_ROOT, 8, 8, request)
    elif kind == "send":
        target, number, tag, request = what
        if request is None:
            writer.mpi_send(at, target, communicators[number], tag, 8)
        else:
            writer.mpi_isend(at, target, communicators[number], tag, 8, request)
    elif kind == "send_complete":
        writer.mpi_isend_complete(at, what[0])
    elif kind == "receive_request":
        writer.mpi_irecv_request(at, what[0])
    else:
        source, number, tag, request = what
        if request is None:
            writer.mpi_recv(at, source, communicators[number], tag, 8)
        else:
            writer.mpi_irecv(at, source, communicators[number], tag, 8, request)
