// SPDX-License-Identifier: Apache-2.0
// The time lines of the ranks of a program of trace-synth: clocks, recorded events and critical paths.
#pragma once

#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/replay/critical_path/critical_path.hpp"
#include "trace-tools/synth/spec.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace synth {

// The state of a rank that another rank may wait for: its time, and its position on the critical path.
struct Moment {
    std::int64_t ns = 0;
    replay::CriticalPathChain::Position path;
};

class Timelines {
 public:
    // `spec` must outlive this object. Throws Error if the directory cannot be recorded into.
    Timelines(const SynthSpec& spec, const std::filesystem::path& directory);

    // MPI_Init and MPI_Finalize take no time.
    void begin_program();
    std::pair<replay::PathTimes, std::int64_t> end_program();  // critical path and its length in ns
    void finish();                                             // writes the archive

    std::int64_t now_ns(int rank) const { return at(rank).now_ns; }
    std::int64_t stamp(int rank) const { return own_time(rank, at(rank).now_ns); }  // on the rank's clock
    Moment moment(int rank) { return {.ns = at(rank).now_ns, .path = at(rank).path.position()}; }
    otf2::LocationRecorder& events(int rank) { return *at(rank).events; }
    otf2::CommunicatorRef communicator(std::size_t index) const { return communicators_[index]; }

    void enter(int rank, std::size_t region) { events(rank).enter(regions_[region], stamp(rank)); }
    void enter_step(int rank, std::size_t region, std::int64_t step)
    {
        events(rank).enter(regions_[region], stamp(rank), {{step_, step}});
    }
    void leave(int rank, std::size_t region) { events(rank).leave(regions_[region], stamp(rank)); }
    void work(int rank, std::size_t region, std::int64_t ns);
    void pass(int rank, std::size_t region, std::int64_t until_ns);
    // Keeps the rank in a call until `until_ns`; the rank waits if `awaited` is later than its own time.
    void wait(int rank, std::size_t region, const Moment& awaited, std::int64_t until_ns);

 private:
    struct Rank {
        std::unique_ptr<otf2::Recorder> recorder;
        otf2::LocationRecorder* events = nullptr;
        std::int64_t now_ns = 0;
        replay::CriticalPathChain path;
    };

    void begin(int rank, const std::filesystem::path& directory);
    void set_up(int rank);
    void define(otf2::Recorder& recorder);
    void visit(const std::optional<otf2::RegionRef>& region);
    std::int64_t own_time(int rank, std::int64_t true_ns) const;

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

    const SynthSpec& spec_;
    const std::int64_t begin_ns_;
    ThreadMeeting meeting_;
    std::vector<Rank> ranks_;
    std::vector<otf2::RegionRef> regions_;
    std::vector<otf2::CommunicatorRef> communicators_;
    std::optional<otf2::RegionRef> initialise_;  // region MPI_Init
    std::optional<otf2::RegionRef> finalise_;
    otf2::AttributeRef step_;
    std::int64_t true_ns_ = begin_ns_;  // true time at which clocks are compared
};

}  // namespace synth
