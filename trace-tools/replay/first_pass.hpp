// SPDX-License-Identifier: Apache-2.0
// One reading of an archive for all that a replay needs: whether it is sound, its steps, its started requests, and its
// events, stored for the replay in the order of time.
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
        bool steps = false;             // are looked for
        bool blocking_receives = true;  // are, too; needed for the critical path
        int threads = 1;
    };

    // Throws Error if the archive is not sound.
    FirstPass(otf2::Reader& reader, const Options& options);

    const otf2::FoundSteps& steps() const { return steps_; }
    StartedRequests take_started() { return std::move(started_); }

    // All events in the order of time, once.
    void replay(otf2::Visitor& visitor);
    // For a thread that has nothing else to do: see otf2::MergedAhead.
    bool help() { return events_->help(); }

    // Sound, but worth a word.
    std::vector<std::string> oddities() const;

 private:
    otf2::Reader& reader_;
    int threads_;
    otf2::FoundSteps steps_;
    StartedRequests started_;
    std::optional<otf2::Soundness> soundness_;
    std::optional<otf2::EventsAside> events_;
};

// Replays all events, which `beside` sees too unless it is null, and finishes. Prints each oddity as a line on stderr
// that begins with `program`.
void replay_archive(FirstPass& first, MpiReplay& replay, const char* program, otf2::Visitor* beside = nullptr);

}  // namespace replay
