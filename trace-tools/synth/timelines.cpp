// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/synth/timelines.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/files.hpp"

#include <algorithm>
#include <cmath>

namespace synth {

namespace {

constexpr std::int64_t least_begin_ns = 1'000'000'000;

// The earliest start at which no rank's clock shows a negative time.
std::int64_t begin_of(const SynthSpec& spec)
{
    std::int64_t begin_ns = least_begin_ns;
    for (const ClockError& clock : spec.clocks) begin_ns = std::max(begin_ns, clock.offset_ns + 1);
    return begin_ns;
}

bool speaks_mpi(const SynthSpec& spec)
{
    return std::any_of(spec.regions.begin(), spec.regions.end(),
                       [](const SynthRegion& region) { return region.paradigm == otf2::Paradigm::mpi; });
}

bool counts_steps(const std::vector<Statement>& program)
{
    return std::any_of(program.begin(), program.end(), [](const Statement& statement) {
        const auto* const block = std::get_if<Block>(&statement.what);
        return block != nullptr && (block->counts || counts_steps(block->body));
    });
}

}  // namespace

Timelines::Timelines(const SynthSpec& spec, const std::filesystem::path& directory)
    : spec_{spec}, begin_ns_{begin_of(spec)}, meeting_{spec.ranks}, ranks_(static_cast<std::size_t>(spec.ranks))
{
    try {
        on_each_rank(meeting_, [&](int rank) { begin(rank, directory); });
    } catch (...) {
        const auto has_begun = [](const Rank& rank) { return rank.recorder != nullptr; };
        std::error_code ignored;
        if (std::any_of(ranks_.begin(), ranks_.end(), has_begun))
            base::remove_tree(otf2::unfinished(directory), ignored);
        throw;
    }
}

void Timelines::begin_program()
{
    for (int rank = 0; rank < spec_.ranks; ++rank) set_up(rank);
    visit(initialise_);
}

std::pair<replay::PathTimes, std::int64_t> Timelines::end_program()
{
    visit(finalise_);
    const auto earlier = [](const Rank& one, const Rank& other) { return one.now_ns < other.now_ns; };
    const auto last = std::max_element(ranks_.begin(), ranks_.end(), earlier);
    true_ns_ = std::max(last->now_ns, begin_ns_ + 1);  // OTF2 rejects two clock comparisons at the same time
    return {last->path.times(), last->now_ns - begin_ns_};
}

void Timelines::finish()
{
    on_each_rank(meeting_, [&](int rank) { at(rank).recorder->finish(); });
}

void Timelines::begin(int rank, const std::filesystem::path& directory)
{
    auto clock = [this, rank] {
        const std::int64_t own_ns = own_time(rank, true_ns_);
        return otf2::ClockOffset{.at_ns = own_ns, .offset_ns = true_ns_ - own_ns};
    };
    at(rank).recorder =
        std::make_unique<otf2::Recorder>(directory, std::make_unique<ThreadTeam>(rank, meeting_, clock));
}

void Timelines::set_up(int rank)
{
    Rank& mine = at(rank);
    mine.events = &mine.recorder->location("Master thread");
    mine.recorder->speaks_mpi(*mine.events);
    mine.now_ns = begin_ns_;
    mine.path = replay::CriticalPathChain{static_cast<std::uint32_t>(rank)};
    define(*mine.recorder);
}

// Defines regions and communicators in the same order on all ranks, so that they get the same numbers.
void Timelines::define(otf2::Recorder& recorder)
{
    std::vector<otf2::RegionRef> regions;
    for (const SynthRegion& region : spec_.regions)
        regions.push_back(recorder.region(region.name, region.role, region.paradigm));
    std::vector<otf2::CommunicatorRef> communicators;
    for (std::size_t i = 0; i < spec_.communicators.size(); ++i)
        communicators.push_back(recorder.communicator({.maker = 0, .number = static_cast<int>(i)},
                                                      spec_.communicators[i].members, spec_.communicators[i].name));
    if (speaks_mpi(spec_)) {
        initialise_ = recorder.region("MPI_Init", otf2::RegionRole::function, otf2::Paradigm::mpi);
        finalise_ = recorder.region("MPI_Finalize", otf2::RegionRole::function, otf2::Paradigm::mpi);
    }
    if (counts_steps(spec_.program))
        step_ = recorder.attribute(base::attribute::step, otf2::Type::uint64, "number of the step, from 0");
    regions_ = std::move(regions);
    communicators_ = std::move(communicators);
}

std::int64_t Timelines::own_time(int rank, std::int64_t true_ns) const
{
    const ClockError& error = spec_.clocks[static_cast<std::size_t>(rank)];
    if (error.drift == 0.0) return true_ns - error.offset_ns;
    const auto since = static_cast<double>(true_ns - begin_ns_);
    return begin_ns_ - error.offset_ns + std::llround(since / (1.0 + error.drift));
}

// Enters and leaves the region on all ranks, in no time.
void Timelines::visit(const std::optional<otf2::RegionRef>& region)
{
    if (!region) return;
    for (int rank = 0; rank < spec_.ranks; ++rank) {
        at(rank).events->enter(*region, stamp(rank));
        at(rank).events->leave(*region, stamp(rank));
    }
}

void Timelines::work(int rank, std::size_t region, std::int64_t ns)
{
    enter(rank, region);
    pass(rank, region, at(rank).now_ns + ns);
    leave(rank, region);
}

// Advances the rank's time. Sums cannot overflow, because programs are at most longest_ns long.
void Timelines::pass(int rank, std::size_t region, std::int64_t until_ns)
{
    if (until_ns - begin_ns_ > longest_ns)
        base::fail_usage("the program takes longer than ", longest_ns / day_ns, " days, the longest trace");
    Rank& mine = at(rank);
    mine.path.add(static_cast<std::uint32_t>(region), until_ns - mine.now_ns);
    mine.now_ns = until_ns;
}

void Timelines::wait(int rank, std::size_t region, const Moment& awaited, std::int64_t until_ns)
{
    Rank& mine = at(rank);
    if (awaited.ns > mine.now_ns) {
        mine.path.continue_from(awaited.path);
        mine.now_ns = awaited.ns;
    }
    pass(rank, region, until_ns);
}

}  // namespace synth
