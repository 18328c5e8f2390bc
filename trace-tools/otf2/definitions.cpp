// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/definitions.hpp"

#include <otf2/otf2.h>

#include <span>
#include <utility>

namespace otf2 {

namespace {

template <class Word>
using Names = std::span<const std::pair<Word, const char*>>;

template <class Word>
const char* look_up(Word word, Names<Word> names)
{
    for (const auto& [known, name] : names)
        if (known == word) return name;
    return nullptr;
}

template <class Word>
std::string name_of(Word word, Names<Word> names)
{
    const char* name = look_up(word, names);
    return name != nullptr ? name : "unknown (" + std::to_string(static_cast<int>(word)) + ")";
}

constexpr std::pair<Paradigm, const char*> paradigms[] = {{Paradigm::unknown, "unknown"},
                                                          {Paradigm::user, "user"},
                                                          {Paradigm::compiler, "compiler"},
                                                          {Paradigm::openmp, "OpenMP"},
                                                          {Paradigm::mpi, "MPI"},
                                                          {Paradigm::cuda, "CUDA"},
                                                          {Paradigm::measurement_system, "measurement"},
                                                          {Paradigm::pthread, "pthread"},
                                                          {Paradigm{8}, "HMPP"},
                                                          {Paradigm{9}, "OmpSs"},
                                                          {Paradigm{10}, "hardware"},
                                                          {Paradigm{11}, "GASPI"},
                                                          {Paradigm{12}, "UPC"},
                                                          {Paradigm{13}, "SHMEM"},
                                                          {Paradigm{14}, "Windows thread"},
                                                          {Paradigm{15}, "Qt thread"},
                                                          {Paradigm{16}, "ACE thread"},
                                                          {Paradigm{17}, "TBB thread"},
                                                          {Paradigm::openacc, "OpenACC"},
                                                          {Paradigm::opencl, "OpenCL"},
                                                          {Paradigm{20}, "MTAPI"},
                                                          {Paradigm{21}, "sampling"},
                                                          {Paradigm::none, "none"},
                                                          {Paradigm::hip, "HIP"},
                                                          {Paradigm{24}, "Kokkos"}};

constexpr std::pair<RegionRole, const char*> roles[] = {{RegionRole::unknown, "unknown"},
                                                        {RegionRole::function, "function"},
                                                        {RegionRole::wrapper, "wrapper"},
                                                        {RegionRole::loop, "loop"},
                                                        {RegionRole::code, "code"},
                                                        {RegionRole::parallel, "parallel"},
                                                        {RegionRole{6}, "sections"},
                                                        {RegionRole{7}, "section"},
                                                        {RegionRole{8}, "workshare"},
                                                        {RegionRole{9}, "single"},
                                                        {RegionRole{10}, "single block"},
                                                        {RegionRole{11}, "master"},
                                                        {RegionRole{12}, "critical"},
                                                        {RegionRole{13}, "critical block"},
                                                        {RegionRole{14}, "atomic"},
                                                        {RegionRole::barrier, "barrier"},
                                                        {RegionRole::implicit_barrier, "implicit barrier"},
                                                        {RegionRole::flush, "flush"},
                                                        {RegionRole{18}, "ordered"},
                                                        {RegionRole{19}, "ordered block"},
                                                        {RegionRole{20}, "task"},
                                                        {RegionRole{21}, "task creation"},
                                                        {RegionRole{22}, "task wait"},
                                                        {RegionRole::one_to_all, "one to all"},
                                                        {RegionRole::all_to_one, "all to one"},
                                                        {RegionRole::all_to_all, "all to all"},
                                                        {RegionRole::collective_other, "collective"},
                                                        {RegionRole::file_io, "file I/O"},
                                                        {RegionRole::point_to_point, "point to point"},
                                                        {RegionRole::rma, "RMA"},
                                                        {RegionRole::data_transfer, "data transfer"},
                                                        {RegionRole::artificial, "artificial"},
                                                        {RegionRole{32}, "thread creation"},
                                                        {RegionRole{33}, "thread wait"},
                                                        {RegionRole{34}, "untied task"},
                                                        {RegionRole{35}, "allocation"},
                                                        {RegionRole{36}, "deallocation"},
                                                        {RegionRole{37}, "reallocation"},
                                                        {RegionRole{38}, "file metadata"}};

constexpr std::pair<LocationKind, const char*> kinds[] = {{LocationKind::unknown, "unknown"},
                                                          {LocationKind::cpu_thread, "CPU thread"},
                                                          {LocationKind::accelerator_stream, "accelerator stream"},
                                                          {LocationKind::metric, "metric"}};

constexpr std::pair<Operation, const char*> operations[] = {{Operation::barrier, "barrier"},
                                                            {Operation::broadcast, "broadcast"},
                                                            {Operation::gather, "gather"},
                                                            {Operation::gatherv, "gatherv"},
                                                            {Operation::scatter, "scatter"},
                                                            {Operation::scatterv, "scatterv"},
                                                            {Operation::allgather, "allgather"},
                                                            {Operation::allgatherv, "allgatherv"},
                                                            {Operation::alltoall, "alltoall"},
                                                            {Operation::alltoallv, "alltoallv"},
                                                            {Operation::alltoallw, "alltoallw"},
                                                            {Operation::allreduce, "allreduce"},
                                                            {Operation::reduce, "reduce"},
                                                            {Operation::reduce_scatter, "reduce_scatter"},
                                                            {Operation::scan, "scan"},
                                                            {Operation::exscan, "exscan"},
                                                            {Operation::reduce_scatter_block, "reduce_scatter_block"},
                                                            {Operation::create_handle, "create handle"},
                                                            {Operation::destroy_handle, "destroy handle"},
                                                            {Operation{19}, "allocate"},
                                                            {Operation{20}, "deallocate"},
                                                            {Operation{21}, "create handle and allocate"},
                                                            {Operation{22}, "destroy handle and deallocate"}};

constexpr std::pair<Type, const char*> types[] = {
    {Type::uint64, "uint64"}, {Type::int64, "int64"}, {Type::real, "double"}, {Type::text, "text"}};

static_assert(static_cast<int>(Paradigm::mpi) == OTF2_PARADIGM_MPI);
static_assert(static_cast<int>(Paradigm::hip) == OTF2_PARADIGM_HIP);
static_assert(static_cast<int>(RegionRole::all_to_all) == OTF2_REGION_ROLE_COLL_ALL2ALL);
static_assert(static_cast<int>(RegionRole::artificial) == OTF2_REGION_ROLE_ARTIFICIAL);
static_assert(static_cast<int>(LocationKind::metric) == OTF2_LOCATION_TYPE_METRIC);
static_assert(static_cast<int>(Operation::allreduce) == OTF2_COLLECTIVE_OP_ALLREDUCE);
static_assert(static_cast<int>(Operation::destroy_handle) == OTF2_COLLECTIVE_OP_DESTROY_HANDLE);
static_assert(static_cast<int>(Type::text) == OTF2_TYPE_STRING);
static_assert(static_cast<int>(Type::real) == OTF2_TYPE_DOUBLE);
static_assert(static_cast<int>(MetricMode::absolute_next) == OTF2_METRIC_ABSOLUTE_NEXT);
static_assert(static_cast<int>(MetricMode::absolute_last) == OTF2_METRIC_ABSOLUTE_LAST);
static_assert(static_cast<int>(MetricMode::absolute_point) == OTF2_METRIC_ABSOLUTE_POINT);

}  // namespace

bool is_known(Paradigm paradigm)
{
    return look_up(paradigm, Names<Paradigm>{paradigms}) != nullptr;
}

bool is_known(RegionRole role)
{
    return look_up(role, Names<RegionRole>{roles}) != nullptr;
}

bool is_known(LocationKind kind)
{
    return look_up(kind, Names<LocationKind>{kinds}) != nullptr;
}

std::string text(Paradigm paradigm)
{
    return name_of(paradigm, Names<Paradigm>{paradigms});
}

std::string text(RegionRole role)
{
    return name_of(role, Names<RegionRole>{roles});
}

std::string text(LocationKind kind)
{
    return name_of(kind, Names<LocationKind>{kinds});
}

std::string text(Operation operation)
{
    return name_of(operation, Names<Operation>{operations});
}

std::string text(Type type)
{
    return name_of(type, Names<Type>{types});
}

}  // namespace otf2
