// SPDX-License-Identifier: Apache-2.0
// The critical path across hosts and streams of GPUs, and waits of hosts for streams.
// Kernels of a stream follow each other. One that begins on a stream which was idle when it was launched continues the
// path of its launch; a synchronisation that waits continues the path of the last work that it waited for.
// Sources: Schmitt, Dietrich, Juckeland, "Scalable critical-path analysis and optimization guidance for hybrid
// MPI-CUDA applications", IJHPCA 31(6), 2017; CASITA, which calls such a wait an early blocking wait.
#pragma once

#include "trace-tools/gpu/analysis/launches.hpp"
#include "trace-tools/replay/critical_path/delay_replay.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace gpu {

class StreamReplay {
 public:
    // Does nothing for an archive without streams. All must outlive it.
    StreamReplay(const otf2::Archive& archive, replay::DelayReplay& delays);

    bool any() const { return accelerators_.any(); }
    bool is_stream(std::uint32_t location) const { return accelerators_.is_stream(location); }
    bool joined() const { return joined_; }  // a host and a stream

    // The location of the thread whose calls are recorded on this one: itself, unless they have a location of their
    // own. Then what the thread does goes there; the location is known by its property `crosstalk::thread`, or, where
    // all calls of the process are on one location, it is the first of the process.
    std::uint32_t thread_of(std::uint32_t location) const { return thread_of_[location]; }

    // On a stream, outside of other regions of it; idle since the end of the last.
    void begin_work(const otf2::At& at, StreamWork work, const otf2::EventAttributes* attributes);
    void end_work(const otf2::At& at, StreamWork work);
    StreamWork work_of(std::uint32_t region) const { return accelerators_.work_of[region]; }

    // On a host. `thread`: whose path it is, as far as it came; `where`: the region that it is in.
    void begin_call(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes,
                    std::uint32_t thread, std::uint32_t where);
    struct Wait {
        std::int64_t from_ns = 0;
        std::int64_t until_ns = 0;
    };
    // How long it waited for a stream; empty: it did not.
    std::optional<Wait> end_call(const otf2::At& at, std::uint32_t region);
    // The thread was inside `where` until now; true if it waited for a stream, and continues its path.
    bool end_wait(std::uint32_t location, std::uint32_t thread, std::int64_t now_ns, std::uint32_t where);

 private:
    struct PathLaunch : Launch {
        std::uint32_t thread = otf2::nowhere;
        std::uint32_t where = otf2::nowhere;
        replay::Handoff left;  // at its end
    };
    struct Call {
        std::uint32_t region = 0;
        Launches<PathLaunch>::Pointer launch;
        std::uint32_t thread = otf2::nowhere;
        std::int64_t begin_ns = 0;
        bool waits = false;
        bool copies = false;                      // and waits for what was before its copy only
        std::vector<std::uint32_t> streams = {};  // that it waits for
        std::int64_t joined_ns = INT64_MIN;       // up to here its thread continues the path of a stream
    };
    struct Stream {
        std::int64_t idle_since_ns = INT64_MIN;
        std::int64_t done_ns = INT64_MIN;  // end of the last work ..
        std::int64_t kernel_done_ns = INT64_MIN;
        replay::Handoff done;  // .. if some call waited then
        std::size_t running = 0;
    };

    void find_threads(const otf2::Archive& archive);
    std::vector<std::uint32_t> streams_waited_for(const otf2::At& at, const otf2::EventAttributes& attributes) const;
    void start(const otf2::At& at, std::int64_t idle_since_ns, const Launches<PathLaunch>::Pointer& launch);

    const otf2::Archive& archive_;
    replay::DelayReplay& delays_;
    Accelerators accelerators_;
    Launches<PathLaunch> launches_;
    std::optional<std::uint32_t> waits_attribute_;
    std::vector<std::uint32_t> thread_of_;    // by location
    std::vector<std::vector<Call>> open_;     // by location
    std::vector<Stream> streams_;             // by location
    std::vector<std::size_t> waiting_;        // by process: calls that wait
    std::vector<std::uint32_t> last_caller_;  // by process: the thread
    bool joined_ = false;
};

}  // namespace gpu
