#include "trace-tools/otf2/definitions.hpp"

#include <otf2/otf2.h>

#include <span>
#include <utility>

namespace otf2 {

namespace {

template <class Word>
using Names = std::span<const std::pair<Word, const char*>>;

template <class Word>
std::string name_of(Word word, Names<Word> names)
{
    for (const auto& [known, name] : names)
        if (known == word) return name;
    return "unknown (" + std::to_string(static_cast<int>(word)) + ")";
}

constexpr std::pair<Paradigm, const char*> paradigms[] = {{Paradigm::unknown, "unknown"},
                                                          {Paradigm::user, "user"},
                                                          {Paradigm::compiler, "compiler"},
                                                          {Paradigm::openmp, "OpenMP"},
                                                          {Paradigm::mpi, "MPI"},
                                                          {Paradigm::cuda, "CUDA"},
                                                          {Paradigm::measurement_system, "measurement"},
                                                          {Paradigm::pthread, "pthread"},
                                                          {Paradigm::openacc, "OpenACC"},
                                                          {Paradigm::opencl, "OpenCL"},
                                                          {Paradigm::none, "none"},
                                                          {Paradigm::hip, "HIP"}};

constexpr std::pair<RegionRole, const char*> roles[] = {{RegionRole::unknown, "unknown"},
                                                        {RegionRole::function, "function"},
                                                        {RegionRole::wrapper, "wrapper"},
                                                        {RegionRole::loop, "loop"},
                                                        {RegionRole::code, "code"},
                                                        {RegionRole::parallel, "parallel"},
                                                        {RegionRole::barrier, "barrier"},
                                                        {RegionRole::implicit_barrier, "implicit barrier"},
                                                        {RegionRole::flush, "flush"},
                                                        {RegionRole::one_to_all, "one to all"},
                                                        {RegionRole::all_to_one, "all to one"},
                                                        {RegionRole::all_to_all, "all to all"},
                                                        {RegionRole::collective_other, "collective"},
                                                        {RegionRole::file_io, "file I/O"},
                                                        {RegionRole::point_to_point, "point to point"},
                                                        {RegionRole::rma, "RMA"},
                                                        {RegionRole::data_transfer, "data transfer"},
                                                        {RegionRole::artificial, "artificial"}};

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
                                                            {Operation::allreduce, "allreduce"},
                                                            {Operation::reduce, "reduce"},
                                                            {Operation::reduce_scatter, "reduce_scatter"},
                                                            {Operation::reduce_scatter_block, "reduce_scatter_block"},
                                                            {Operation::create_handle, "create handle"},
                                                            {Operation::destroy_handle, "destroy handle"}};

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
