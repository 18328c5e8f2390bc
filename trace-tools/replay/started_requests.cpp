// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/started_requests.hpp"

#include "trace-tools/otf2/mpi_calls.hpp"

#include <algorithm>
#include <cctype>
#include <deque>

namespace replay {

namespace {

// True for MPI_Iallreduce, MPI_Irecv, MPI_Start of a persistent request and the like, but not for sends and probes.
bool starts_requests(const otf2::Region& region)
{
    const std::string name = otf2::mpi_call_name(region);
    if (name.starts_with("MPI_Start") || name.starts_with("MPI_Isendrecv")) return true;
    if (!name.starts_with("MPI_I") || name.size() < 6) return false;
    if (std::islower(static_cast<unsigned char>(name[5])) == 0) return false;
    const auto other = {"MPI_Inf",    "MPI_Ini",    "MPI_Int",    "MPI_Isend",   "MPI_Ibsend",
                        "MPI_Issend", "MPI_Irsend", "MPI_Iprobe", "MPI_Improbe", "MPI_Is_thread_main"};
    return std::ranges::none_of(other, [&](const char* prefix) { return name.starts_with(prefix); });
}

// True for MPI_Recv, MPI_Sendrecv, MPI_Mrecv.
bool receives(const otf2::Region& region)
{
    const std::string name = otf2::mpi_call_name(region);
    return name.find("recv") != std::string::npos || name.find("Recv") != std::string::npos;
}

// By location: whether its process has several threads.
std::vector<bool> in_threads(const otf2::Archive& archive)
{
    const auto is_thread = [](const otf2::Location& one) {
        return one.process != otf2::nowhere && one.kind == otf2::LocationKind::cpu_thread && one.events > 0;
    };
    std::vector<std::size_t> threads(archive.processes.size());
    for (const otf2::Location& location : archive.locations)
        if (is_thread(location)) ++threads[location.process];
    std::vector<bool> found;
    for (const otf2::Location& location : archive.locations)
        found.push_back(is_thread(location) && threads[location.process] > 1);
    return found;
}

bool has_threads_in_collectives(const otf2::Archive& archive)
{
    const std::vector<bool> found = in_threads(archive);
    return std::ranges::find(found, true) != found.end() && archive.communicators.size() > 1;
}

}  // namespace

StartCollector::StartCollector(const otf2::Archive& archive, bool blocking) : blocking_{blocking}
{
    started_.collectives.resize(archive.locations.size());
    started_.receives.resize(archive.locations.size());
    started_.blocking_collectives.resize(archive.locations.size());
    in_threads_ = in_threads(archive);
    for (const otf2::Region& region : archive.regions) {
        const std::string call = otf2::mpi_call_name(region);
        kinds_.push_back(call.empty()                                                      ? Kind::no_mpi
                         : call == "MPI_Probe" || call == "MPI_Mprobe"                     ? Kind::probe
                         : call.ends_with("probe")                                         ? Kind::poll
                         : call.starts_with("MPI_Mrecv") || call.starts_with("MPI_Imrecv") ? Kind::matched_receive
                                                                                           : Kind::mpi);
    }
}

void StartCollector::add(StartedRequests other)
{
    for (std::size_t location = 0; location < other.collectives.size(); ++location) {
        StartedReceives& receives = other.receives[location];
        if (!other.collectives[location].empty())
            started_.collectives[location] = std::move(other.collectives[location]);
        if (!receives.channels.empty() || !receives.posted.empty()) started_.receives[location] = std::move(receives);
        if (!other.blocking_collectives[location].empty())
            started_.blocking_collectives[location] = std::move(other.blocking_collectives[location]);
    }
}

void StartCollector::enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&)
{
    if (!blocking_) return;
    Open& open = of(at);
    open.regions.push_back(region);
    if (kinds_[region] == Kind::no_mpi || open.in_mpi++ > 0) return;
    ++open.calls;
    open.call = kinds_[region];
    if (open.call != Kind::probe && open.call != Kind::poll) return;
    std::vector<StartedReceives::Probes>& probes = started_.receives[at.location].probes;
    if (open.call == Kind::poll && !open.probes.empty() && probes.back().last_call + 1 == open.calls &&
        open.probes.back() + 1 == probes.size()) {
        probes.back().last_call = open.calls;
        return;
    }
    open.probes.push_back(probes.size());
    probes.push_back({.first_call = open.calls, .last_call = open.calls});
}

void StartCollector::leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&)
{
    if (!blocking_) return;
    Open& open = of(at);
    if (std::find(open.regions.rbegin(), open.regions.rend(), region) == open.regions.rend()) return;
    std::uint32_t innermost = otf2::nowhere;
    do {  // inner regions that were never left end here as well
        innermost = open.regions.back();
        open.regions.pop_back();
        if (kinds_[innermost] != Kind::no_mpi) --open.in_mpi;
    } while (innermost != region);
}

void StartCollector::collective_begin(const otf2::At& at)
{
    if (in_threads_[at.location]) started_.blocking_collectives[at.location].push_back(otf2::nowhere);
}

void StartCollector::collective_end(const otf2::At& at, const otf2::CollectiveRecord& record)
{
    std::vector<std::uint32_t>& begun = started_.blocking_collectives[at.location];
    if (!begun.empty() && begun.back() == otf2::nowhere) begun.back() = record.communicator;
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
    std::vector<StartedReceives::Post>& posted = started_.receives[at.location].posted;
    Open& open = of(at);
    open.receives.open(request, posted.size());
    posted.push_back({.call = open.in_mpi > 0 ? open.calls : 0});
}

void StartCollector::receive(const otf2::At& at, const otf2::MessageRecord& message)
{
    Open& open = of(at);
    const auto post = open.receives.close(message.request);
    if (!post && open.in_mpi == 0) return;  // a blocking receive that is not wanted, or outside of MPI calls
    StartedReceives& all = started_.receives[at.location];
    const Channel channel{.communicator = message.communicator, .sender = message.peer, .tag = message.tag};
    const auto [known, is_new] = open.channels.emplace(channel, static_cast<std::uint32_t>(all.channels.size()));
    if (is_new) all.channels.push_back(channel);
    if (post)
        all.posted[*post].channel = known->second;
    else
        all.blocking.push_back({.call = open.calls, .channel = known->second});
    const std::uint64_t call = post ? all.posted[*post].call : open.calls;
    const std::uint32_t of_message = known->second;
    // The probes before this receive waited for its message; of several MPI_Mprobe calls, the first one matches.
    bool found = false;
    std::erase_if(open.probes, [&](std::size_t probe) {
        if (all.probes[probe].last_call >= call || (found && open.call == Kind::matched_receive)) return false;
        all.probes[probe].channel = of_message;
        found = true;
        return true;
    });
}

// Locations are read one after the other, so only one has open state.
StartCollector::Open& StartCollector::of(const otf2::At& at)
{
    if (at.location != location_) open_ = {};
    location_ = at.location;
    return open_;
}

bool starts_or_receives(const otf2::Archive& archive, bool blocking)
{
    return std::any_of(
               archive.regions.begin(), archive.regions.end(),
               [&](const otf2::Region& region) { return starts_requests(region) || (blocking && receives(region)); }) ||
           (blocking && has_threads_in_collectives(archive));
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
