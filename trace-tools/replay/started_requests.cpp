#include "trace-tools/replay/started_requests.hpp"

#include "trace-tools/replay/replay_state.hpp"

#include <algorithm>
#include <cctype>
#include <deque>

namespace replay {

namespace {

// MPI_Iallreduce, MPI_Irecv, MPI_Start of a persistent request; no sends and no probes.
bool starts_requests(const otf2::Region& region)
{
    const std::string& name = region.name;
    if (name.starts_with("MPI_Start") || name.starts_with("MPI_Isendrecv")) return true;
    if (!name.starts_with("MPI_I") || name.size() < 6) return false;
    if (std::islower(static_cast<unsigned char>(name[5])) == 0) return false;
    const auto other = {"MPI_Inf",    "MPI_Ini",    "MPI_Int",    "MPI_Isend",   "MPI_Ibsend",
                        "MPI_Issend", "MPI_Irsend", "MPI_Iprobe", "MPI_Improbe", "MPI_Is_thread_main"};
    return std::none_of(other.begin(), other.end(), [&](const char* prefix) { return name.starts_with(prefix); });
}

// MPI_Recv, MPI_Sendrecv, MPI_Mrecv.
bool receives(const otf2::Region& region)
{
    return is_mpi(region) &&
           (region.name.find("recv") != std::string::npos || region.name.find("Recv") != std::string::npos);
}

}  // namespace

StartCollector::StartCollector(const otf2::Archive& archive, bool blocking) : blocking_{blocking}
{
    started_.collectives.resize(archive.locations.size());
    started_.receives.resize(archive.locations.size());
    for (const otf2::Region& region : archive.regions) mpi_.push_back(is_mpi(region));
}

void StartCollector::add(StartedRequests other)
{
    for (std::size_t location = 0; location < other.collectives.size(); ++location) {
        StartedReceives& receives = other.receives[location];
        if (!other.collectives[location].empty())
            started_.collectives[location] = std::move(other.collectives[location]);
        if (!receives.channels.empty() || !receives.posted.empty()) started_.receives[location] = std::move(receives);
    }
}

void StartCollector::enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&)
{
    if (!blocking_) return;
    Open& open = of(at);
    open.regions.push_back(region);
    if (mpi_[region] && open.in_mpi++ == 0) ++open.calls;
}

void StartCollector::leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&)
{
    if (!blocking_) return;
    Open& open = of(at);
    if (std::find(open.regions.rbegin(), open.regions.rend(), region) == open.regions.rend()) return;
    std::uint32_t innermost = otf2::nowhere;
    do {  // regions inside that are never left end here, too
        innermost = open.regions.back();
        open.regions.pop_back();
        if (mpi_[innermost]) --open.in_mpi;
    } while (innermost != region);
}

void StartCollector::collective_request(const otf2::At& at, std::uint64_t request)
{
    std::vector<std::uint32_t>& communicators = started_.collectives[at.location];
    of(at).collectives.open(request, communicators.size());
    communicators.push_back(otf2::nowhere);
}

void StartCollector::collective_complete(const otf2::At& at, const otf2::CollectiveRecord& record)
{
    if (const auto start = of(at).collectives.close(record.request))
        started_.collectives[at.location][*start] = record.communicator;
}

void StartCollector::receive_request(const otf2::At& at, std::uint64_t request)
{
    std::vector<std::uint32_t>& posted = started_.receives[at.location].posted;
    of(at).receives.open(request, posted.size());
    posted.push_back(otf2::nowhere);
}

void StartCollector::receive(const otf2::At& at, const otf2::MessageRecord& message)
{
    Open& open = of(at);
    const auto post = open.receives.close(message.request);
    if (!post && open.in_mpi == 0) return;  // blocking, and not wanted or outside of MPI calls
    StartedReceives& all = started_.receives[at.location];
    const Channel channel{.communicator = message.communicator, .sender = message.peer, .tag = message.tag};
    const auto [known, is_new] = open.channels.emplace(channel, static_cast<std::uint32_t>(all.channels.size()));
    if (is_new) all.channels.push_back(channel);
    if (post)
        all.posted[*post] = known->second;
    else
        all.blocking.push_back({.call = open.calls, .channel = known->second});
}

// Locations are read one after the other.
StartCollector::Open& StartCollector::of(const otf2::At& at)
{
    if (at.location != location_) open_ = {};
    location_ = at.location;
    return open_;
}

bool starts_or_receives(const otf2::Archive& archive, bool blocking)
{
    return std::any_of(archive.regions.begin(), archive.regions.end(), [&](const otf2::Region& region) {
        return starts_requests(region) || (blocking && receives(region));
    });
}

StartedRequests started_requests(otf2::Reader& reader, bool blocking, int threads)
{
    const otf2::Archive& archive = reader.archive();
    std::deque<StartCollector> starts;
    std::vector<otf2::Visitor*> visitors;
    for (int i = 0; i < threads; ++i) visitors.push_back(&starts.emplace_back(archive, blocking));
    if (starts_or_receives(archive, blocking)) reader.read_by_location(visitors);
    for (; starts.size() > 1; starts.pop_back()) starts.front().add(starts.back().take());
    return starts.front().take();
}

}  // namespace replay
