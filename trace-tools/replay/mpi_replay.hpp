// SPDX-License-Identifier: Apache-2.0
// Wait states, delay costs and critical path of an MPI program, computed in one pass in time order. Needs
// clock-corrected time stamps.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/profile/call_tree.hpp"
#include "trace-tools/replay/critical_path/delay_analysis.hpp"
#include "trace-tools/replay/wait_states.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace replay {

// Times of a location.
struct MpiTimes {
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    std::int64_t run_ns = 0;      // time from first to last event within the part, as the next two
    std::int64_t mpi_ns = 0;      // time in MPI calls
    std::int64_t waiting_ns = 0;  // the part of mpi_ns in wait states
    bool calls_mpi = false;       // anywhere in the run
    bool counts() const { return calls_mpi && run_ns > 0; }
};

struct CriticalPath {
    PathTimes ns;                // time of each activity on the path; they add up to length_ns
    DelayCosts delay;            // direct and indirect costs of activities, on the path or not
    DelayCosts indirect_delay;   // the part of `delay` that was caused by propagation
    DelayCosts unknown_delay;    // waiting without a known cause, by waiting location; adds to `delay`
    std::int64_t length_ns = 0;  // without a selected part: from the first ENTER of all locations to the last LEAVE
};

// A phase of a step on one location: all visits of a region directly inside the step. Time outside of such regions
// counts for the step's own region. The phases add up to the step.
struct PhaseTime {
    std::int64_t step = 0;
    std::uint32_t where = 0;
    std::uint32_t location = 0;
    std::int64_t ns = 0;
};

class MpiReplay final : public otf2::Visitor {
 public:
    struct Options {
        bool critical_path = false;
        // Steps are
        // 1. from the end of one visit of step_from to the end of the next, counted on each location;
        // 2. else the visits of step_region, numbered by its attribute `step`, or else counted on each location;
        // 3. if both are nowhere: the outermost visits that have an attribute `step`.
        std::uint32_t step_region = otf2::nowhere;
        std::uint32_t step_from = otf2::nowhere;
        // Meaning of `where`. With a tree: a call path, an index into its nodes, which the replay adds. Without: a
        // region, an index into Archive::regions.
        otf2::CallTree* call_paths = nullptr;
        // Called at the end of each step of each location. If several regions are steps, the one that is entered
        // first has phases.
        std::function<void(const PhaseTime&)> phases = {};
        // Sums contain only time in this part; steps that reach beyond it have no phases.
        otf2::Part part = {};
        // Number of threads that look for started requests; with two or more, a separate thread analyses delays.
        int threads = 1;
        // Called by the delay-analysis thread while it is idle: does a piece of other work. False: there is none now.
        std::function<bool()> meanwhile = {};
    };

    // Called for each sum of waits once its step has ended on all locations.
    using Sink = WaitSums::Sink;

    // Reads the archive in advance if it has non-blocking collectives or receives: see started_requests.hpp.
    MpiReplay(otf2::Reader& reader, const Options& options, Sink sink);
    // For callers that already have the started requests.
    MpiReplay(const otf2::Archive& archive, struct StartedRequests started, const Options& options, Sink sink);
    ~MpiReplay() override;

    // Call after the last event.
    void finish();

    // Indexed by location.
    std::vector<MpiTimes> times() const;
    // Time of each activity without that of regions inside it. An MPI call includes the MPI calls that it makes.
    PathTimes exclusive() const;
    // The path to the last event among all linked locations. If joined() is false, only the activities of that event's
    // location.
    CriticalPath critical_path() const;
    bool joined() const;        // whether locations are linked by MPI or tasks; true for a single location
    std::size_t ranks() const;  // number of processes that call MPI and have time in the part
    std::vector<std::string> problems() const;

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;
    void collective_begin(const otf2::At& at) override;
    void collective_end(const otf2::At& at, const otf2::CollectiveRecord& record) override;
    void collective_request(const otf2::At& at, std::uint64_t request) override;
    void collective_complete(const otf2::At& at, const otf2::CollectiveRecord& record) override;
    void send(const otf2::At& at, const otf2::MessageRecord& message) override;
    void send_complete(const otf2::At& at, std::uint64_t request) override;
    void receive_request(const otf2::At& at, std::uint64_t request) override;
    void receive(const otf2::At& at, const otf2::MessageRecord& message) override;
    void transfer_begin(const otf2::At& at) override;
    void transfer_end(const otf2::At& at) override;

 private:
    struct Engine;
    std::unique_ptr<Engine> engine_;
};

}  // namespace replay
