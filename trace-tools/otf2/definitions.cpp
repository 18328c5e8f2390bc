// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/definitions.hpp"

#include <otf2/otf2.h>

#include <array>
#include <span>
#include <string_view>

namespace otf2 {

namespace {

// Names by number: OTF2 numbers its words from 0, without gaps.
constexpr std::array paradigms{"unknown",   "user",        "compiler",   "OpenMP",  "MPI",
                               "CUDA",      "measurement", "pthread",    "HMPP",    "OmpSs",
                               "hardware",  "GASPI",       "UPC",        "SHMEM",   "Windows thread",
                               "Qt thread", "ACE thread",  "TBB thread", "OpenACC", "OpenCL",
                               "MTAPI",     "sampling",    "none",       "HIP",     "Kokkos"};

constexpr std::array roles{"unknown",       "function",         "wrapper",         "loop",           "code",
                           "parallel",      "sections",         "section",         "workshare",      "single",
                           "single block",  "master",           "critical",        "critical block", "atomic",
                           "barrier",       "implicit barrier", "flush",           "ordered",        "ordered block",
                           "task",          "task creation",    "task wait",       "one to all",     "all to one",
                           "all to all",    "collective",       "file I/O",        "point to point", "RMA",
                           "data transfer", "artificial",       "thread creation", "thread wait",    "untied task",
                           "allocation",    "deallocation",     "reallocation",    "file metadata"};

constexpr std::array kinds{"unknown", "CPU thread", "accelerator stream", "metric"};

// clang-format off
constexpr std::array operations{"barrier", "broadcast", "gather", "gatherv", "scatter", "scatterv", "allgather",
    "allgatherv", "alltoall", "alltoallv", "alltoallw", "allreduce", "reduce", "reduce_scatter", "scan", "exscan",
    "reduce_scatter_block", "create handle", "destroy handle", "allocate", "deallocate", "create handle and allocate",
    "destroy handle and deallocate"};
// clang-format on

constexpr std::array types{"none",  "uint8", "uint16", "uint32", "uint64", "int8",
                           "int16", "int32", "int64",  "float",  "double", "text"};

using Names = std::span<const char* const>;

template <class Word>
bool is_in(Names names, Word word)
{
    return static_cast<std::size_t>(word) < names.size();
}

template <class Word>
std::string name_of(Word word, Names names)
{
    const auto number = static_cast<std::size_t>(word);
    return is_in(names, word) ? names[number] : "unknown (" + std::to_string(number) + ")";
}

static_assert(static_cast<int>(Paradigm::mpi) == OTF2_PARADIGM_MPI);
static_assert(static_cast<int>(Paradigm::hip) == OTF2_PARADIGM_HIP);
static_assert(static_cast<int>(RegionRole::all_to_all) == OTF2_REGION_ROLE_COLL_ALL2ALL);
static_assert(static_cast<int>(RegionRole::artificial) == OTF2_REGION_ROLE_ARTIFICIAL);
static_assert(static_cast<int>(LocationKind::metric) == OTF2_LOCATION_TYPE_METRIC);
static_assert(static_cast<int>(Operation::allreduce) == OTF2_COLLECTIVE_OP_ALLREDUCE);
static_assert(static_cast<int>(Operation::destroy_handle) == OTF2_COLLECTIVE_OP_DESTROY_HANDLE);
static_assert(static_cast<int>(Type::text) == OTF2_TYPE_STRING);
static_assert(static_cast<int>(Type::real) == OTF2_TYPE_DOUBLE);
static_assert(paradigms[OTF2_PARADIGM_HIP] == std::string_view{"HIP"});
static_assert(roles[OTF2_REGION_ROLE_ARTIFICIAL] == std::string_view{"artificial"});
static_assert(operations[OTF2_COLLECTIVE_OP_DESTROY_HANDLE] == std::string_view{"destroy handle"});
static_assert(types[OTF2_TYPE_STRING] == std::string_view{"text"});
static_assert(static_cast<int>(MetricMode::absolute_next) == OTF2_METRIC_ABSOLUTE_NEXT);
static_assert(static_cast<int>(MetricMode::absolute_last) == OTF2_METRIC_ABSOLUTE_LAST);
static_assert(static_cast<int>(MetricMode::absolute_point) == OTF2_METRIC_ABSOLUTE_POINT);

}  // namespace

bool is_known(Paradigm paradigm)
{
    return is_in(paradigms, paradigm);
}

bool is_known(RegionRole role)
{
    return is_in(roles, role);
}

bool is_known(LocationKind kind)
{
    return is_in(kinds, kind);
}

std::string text(Paradigm paradigm)
{
    return name_of(paradigm, paradigms);
}

std::string text(RegionRole role)
{
    return name_of(role, roles);
}

std::string text(LocationKind kind)
{
    return name_of(kind, kinds);
}

std::string text(Operation operation)
{
    return name_of(operation, operations);
}

std::string text(Type type)
{
    return name_of(type, types);
}

}  // namespace otf2
