// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/mpi/recorded_call.hpp"

#include "trace-tools/mpi/record_mpi.hpp"
#include "trace-tools/mpi/thread_locations.hpp"

#include <atomic>
#include <utility>
#include <vector>

#include <unistd.h>

namespace otf2 {

namespace {

std::atomic<std::size_t> functions{0};

// Location of this thread. Held by a plain pointer, because MPI may be called while the process ends.
struct Here {
    LocationRecorder* location = nullptr;
    std::vector<std::optional<RegionRef>> regions{};  // by index of the function
    Polling polling{};
};
thread_local Here* here = nullptr;

std::atomic<ThreadLocations*> everywhere{nullptr};

void forget_here()
{
    delete std::exchange(here, nullptr);
}

// Releases a thread's location for reuse when the thread ends. The main thread keeps its own until the process ends.
struct Guest {
    ThreadLocations* host = nullptr;
    bool over = false;
    ~Guest()
    {
        over = true;
        if (host == nullptr || here == nullptr) return;
        host->give_back(*here->location);
        forget_here();
    }
};
thread_local Guest guest;

// Gives this thread a location if all threads are recorded.
void join()
{
    ThreadLocations* host = everywhere.load(std::memory_order_acquire);
    if (host == nullptr || guest.over) return;
    LocationRecorder* location = host->take();
    if (location == nullptr) return;
    here = new Here{.location = location};
    if (::gettid() != ::getpid()) guest.host = host;
}

}  // namespace

void record_mpi_here(LocationRecorder& location)
{
    forget_here();
    if (!location.on()) return;
    here = new Here{.location = &location};
    location.recorder().speaks_mpi(location);
    communicator_of(location, MPI_COMM_WORLD);  // defined even if nothing happens on it: tools expect it
}

void record_mpi_everywhere(ThreadLocations& locations)
{
    record_mpi_here(locations.first());
    everywhere.store(&locations, std::memory_order_release);
}

void record_mpi_no_more()
{
    everywhere.store(nullptr, std::memory_order_release);
    forget_here();
}

MpiFunction::MpiFunction(const char* name, RegionRole role) : name_{name}, role_{role}, index_{functions++} {}

RegionRef MpiFunction::region(Recorder& recorder) const
{
    if (here->regions.size() <= index_) here->regions.resize(index_ + 1);
    std::optional<RegionRef>& region = here->regions[index_];
    if (!region) region = recorder.region(name_, role_, Paradigm::mpi);
    return *region;
}

LocationRecorder* recording_location()
{
    if (here == nullptr) join();
    return here != nullptr && here->location->on() ? here->location : nullptr;
}

Polling& polling_here()
{
    return here->polling;
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

std::int64_t begin_call()
{
    const LocationRecorder* location = recording_location();
    return location != nullptr ? polling_here().begin_call(*location) : base::now_ns();
}

void found_nothing()
{
    if (recording_location() != nullptr) polling_here().found_nothing();
}

}  // namespace otf2
