#include "trace-tools/mpi/recorded_call.hpp"

#include "trace-tools/mpi/record_mpi.hpp"

#include <atomic>

namespace otf2 {

namespace {

std::atomic<std::size_t> functions{0};

struct Here {
    LocationRecorder* location = nullptr;
    std::vector<std::optional<RegionRef>> regions;  // by index of the function
};
thread_local Here here;

}  // namespace

void record_mpi_here(LocationRecorder& location)
{
    here = {};
    if (!location.on()) return;
    here.location = &location;
    location.recorder().speaks_mpi(location);
    communicator_of(location, MPI_COMM_WORLD);  // defined even if nothing happens on it: tools expect it
}

void record_mpi_no_more()
{
    here = {};
}

MpiFunction::MpiFunction(const char* name, RegionRole role) : name_{name}, role_{role}, index_{functions++} {}

RegionRef MpiFunction::region(Recorder& recorder) const
{
    if (here.regions.size() <= index_) here.regions.resize(index_ + 1);
    std::optional<RegionRef>& region = here.regions[index_];
    if (!region) region = recorder.region(name_, role_, Paradigm::mpi);
    return *region;
}

LocationRecorder* recording_location()
{
    return here.location != nullptr && here.location->on() ? here.location : nullptr;
}

std::optional<CommunicatorRef> communicator_of(LocationRecorder& location, MPI_Comm communicator)
{
    const KnownCommunicator* found = known(communicator);
    if (found == nullptr) return {};
    return location.recorder().communicator(found->key, found->members, found->name);
}

std::uint64_t bytes_of(std::int64_t count, MPI_Datatype type)
{
    int size = 0;
    if (count > 0) PMPI_Type_size(type, &size);
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

std::uint64_t bytes_of(const int* counts, MPI_Comm communicator, MPI_Datatype type)
{
    std::int64_t total = 0;
    for (int rank = 0; rank < size_of(communicator); ++rank) total += counts[rank];
    return bytes_of(total, type);
}

int size_of(MPI_Comm communicator)
{
    int size = 0;
    PMPI_Comm_size(communicator, &size);
    return size;
}

int rank_in(MPI_Comm communicator)
{
    int rank = 0;
    PMPI_Comm_rank(communicator, &rank);
    return rank;
}

}  // namespace otf2
