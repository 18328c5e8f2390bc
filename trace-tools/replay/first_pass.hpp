// SPDX-License-Identifier: Apache-2.0
// Reads an archive once for everything that a replay needs: soundness, steps, started requests, and the events, stored
// to be replayed in time order.
//
//     replay::FirstPass first{reader, {.threads = 2}};
//     replay::MpiReplay replay{archive, first.take_started(), options, sink};
//     first.replay(replay);
//     replay.finish();
#pragma once

#include "trace-tools/otf2/aside/events_aside.hpp"
#include "trace-tools/otf2/read/soundness.hpp"
#include "trace-tools/replay/mpi_replay.hpp"
#include "trace-tools/replay/started_requests.hpp"
#include "trace-tools/steps/step_region.hpp"

#include <optional>
#include <string>
#include <vector>

namespace replay {

class FirstPass {
 public:
    struct Options {
        bool steps = false;             // look for steps
        bool blocking_receives = true;  // also look for blocking receives; needed for the critical path
        int threads = 1;
    };

    // Throws Error if the archive is not sound.
    FirstPass(otf2::Reader& reader, const Options& options);

    const otf2::FoundSteps& steps() const { return steps_; }
    StartedRequests take_started() { return std::move(started_); }

    // Replays all events in time order; call once.
    void replay(otf2::Visitor& visitor);
    // For an idle thread: see otf2::MergedAhead::help().
    bool help() { return events_->help(); }

    // Facts that do not make the archive unsound, but are worth reporting.
    std::vector<std::string> oddities() const;

 private:
    otf2::Reader& reader_;
    int threads_;
    otf2::FoundSteps steps_;
    StartedRequests started_;
    std::optional<otf2::Soundness> soundness_;
    std::optional<otf2::EventsAside> events_;
};

// Replays all events and finishes the replay. `beside`, if not null, visits all events as well. Prints each oddity as a
// line on stderr that begins with `program`.
void replay_archive(FirstPass& first, MpiReplay& replay, const char* program, otf2::Visitor* beside = nullptr);

}  // namespace replay
