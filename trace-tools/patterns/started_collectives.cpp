#include "trace-tools/patterns/started_collectives.hpp"

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace otf2 {

namespace {

// MPI_Iallreduce; sends, receives and probes are none.
bool starts_collectives(const Region& region)
{
    if (!region.name.starts_with("MPI_I") || region.name.size() < 6) return false;
    if (std::islower(static_cast<unsigned char>(region.name[5])) == 0) return false;
    const auto other = {"MPI_Init",   "MPI_Irecv",  "MPI_Isend",   "MPI_Ibsend", "MPI_Issend",
                        "MPI_Irsend", "MPI_Iprobe", "MPI_Improbe", "MPI_Imrecv", "MPI_Is_thread_main"};
    return std::none_of(other.begin(), other.end(), [&](const char* name) { return region.name.starts_with(name); });
}

class Starts : public Visitor {
 public:
    explicit Starts(const Archive& archive) : communicators_(archive.locations.size()), open_(archive.locations.size())
    {
    }

    StartedCollectives take() { return std::move(communicators_); }

    void collective_request(const At& at, std::uint64_t request) override
    {
        open_[at.location][request] = communicators_[at.location].size();
        communicators_[at.location].push_back(nowhere);
    }

    void collective_complete(const At& at, const CollectiveRecord& record) override
    {
        const auto mine = open_[at.location].find(record.request);
        if (mine == open_[at.location].end()) return;
        communicators_[at.location][mine->second] = record.communicator;
        open_[at.location].erase(mine);
    }

 private:
    StartedCollectives communicators_;
    std::vector<std::unordered_map<std::uint64_t, std::size_t>> open_;  // by location: request, number of its start
};

}  // namespace

StartedCollectives started_collectives(Reader& reader)
{
    const Archive& archive = reader.archive();
    Starts starts{archive};
    if (std::any_of(archive.regions.begin(), archive.regions.end(), starts_collectives))
        reader.read_by_location(starts);
    return starts.take();
}

}  // namespace otf2
