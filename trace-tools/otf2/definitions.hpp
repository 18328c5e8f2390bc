// SPDX-License-Identifier: Apache-2.0
// Enumerations shared by recorder and reader: roles, paradigms, operations, types. Their values are OTF2's. Values of a
// newer writer that are not listed here are kept, and text() calls them "unknown (number)".
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace otf2 {

enum class Paradigm : std::uint8_t {
    unknown = 0,
    user = 1,
    compiler = 2,
    openmp = 3,
    mpi = 4,
    cuda = 5,
    measurement_system = 6,
    pthread = 7,
    openacc = 18,
    opencl = 19,
    none = 22,
    hip = 23
};

enum class RegionRole : std::uint8_t {
    unknown = 0,
    function = 1,
    wrapper = 2,
    loop = 3,
    code = 4,
    parallel = 5,
    barrier = 15,
    implicit_barrier = 16,
    flush = 17,
    task = 20,
    task_create = 21,
    task_wait = 22,
    one_to_all = 23,
    all_to_one = 24,
    all_to_all = 25,
    collective_other = 26,
    file_io = 27,
    point_to_point = 28,
    rma = 29,
    data_transfer = 30,
    artificial = 31
};

enum class LocationKind : std::uint8_t { unknown = 0, cpu_thread = 1, accelerator_stream = 2, metric = 3 };

enum class Operation : std::uint8_t {
    barrier = 0,
    broadcast = 1,
    gather = 2,
    gatherv = 3,
    scatter = 4,
    scatterv = 5,
    allgather = 6,
    allgatherv = 7,
    alltoall = 8,
    alltoallv = 9,
    alltoallw = 10,
    allreduce = 11,
    reduce = 12,
    reduce_scatter = 13,
    scan = 14,
    exscan = 15,
    reduce_scatter_block = 16,
    create_handle = 17,
    destroy_handle = 18
};

// Type of an attribute or a metric. Recorded are these four types; on reading, narrower numbers are widened to them,
// and references of all kinds become uint64.
enum class Type : std::uint8_t { uint64 = 4, int64 = 8, real = 10, text = 11 };

// How a metric's value relates to time: valid at its time stamp, since the last value, until the next value, or
// accumulated since the start.
enum class MetricMode : std::uint8_t {
    accumulated_start = 0,
    absolute_point = 17,
    absolute_last = 33,
    absolute_next = 49
};

// Description of one metric. Each event of a metric class has one value for each of its metrics.
struct MetricRow {
    std::string name;
    std::string unit;
    std::string description;
    Type type = Type::uint64;
    MetricMode mode = MetricMode::absolute_point;
    auto operator<=>(const MetricRow&) const = default;
};

constexpr std::uint32_t no_root = UINT32_MAX;     // collectives without a root
constexpr std::uint64_t no_request = UINT64_MAX;  // blocking operations

// True if the value has a name here. Newer writers may use values that do not.
bool is_known(Paradigm paradigm);
bool is_known(RegionRole role);
bool is_known(LocationKind kind);

constexpr bool is_collective(RegionRole role)
{
    return role == RegionRole::barrier || (role >= RegionRole::one_to_all && role <= RegionRole::collective_other);
}

// Paradigms of regions that may be the program's own or MPI's: TAU has user regions with "mpi" in their names.
constexpr bool is_of_program_or_mpi(Paradigm paradigm)
{
    return paradigm == Paradigm::mpi || paradigm == Paradigm::user || paradigm == Paradigm::unknown ||
           paradigm == Paradigm::compiler || paradigm == Paradigm::none;
}

std::string text(Paradigm paradigm);
std::string text(RegionRole role);
std::string text(LocationKind kind);
std::string text(Operation operation);
std::string text(Type type);

}  // namespace otf2
