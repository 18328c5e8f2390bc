// SPDX-License-Identifier: Apache-2.0
// The critical path across hosts and streams of GPUs, and waits of hosts for streams.
// Kernels on a stream follow each other. A kernel that begins on a stream which was idle at its launch continues the
// path of the launching call; a synchronisation that waits continues the path of the last work that it waited for.
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
    // Does nothing for an archive without streams. The arguments must outlive this object.
    StreamReplay(const otf2::Archive& archive, replay::DelayReplay& delays);

    bool any() const { return accelerators_.any(); }
    bool is_stream(std::uint32_t location) const { return accelerators_.is_stream(location); }
    bool joined() const { return joined_; }  // true once a host's and a stream's paths were linked

    // The location of the thread whose GPU calls are recorded at this location. This is the location itself, unless
    // calls have their own location; then the thread is found by its property `crosstalk::thread` or, if all calls of
    // the process are at one location, is the process's first location.
    std::uint32_t thread_of(std::uint32_t location) const { return thread_of_[location]; }

    // For streams, outside of other regions on the stream; it was idle since the end of the last work.
    void begin_work(const otf2::At& at, StreamWork work, const otf2::EventAttributes* attributes);
    void end_work(const otf2::At& at, StreamWork work);
    StreamWork work_of(std::uint32_t region) const { return accelerators_.work_of[region]; }

    // For hosts. `thread` is the location whose path the call belongs to, `where` its current region.
    void begin_call(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes,
                    std::uint32_t thread, std::uint32_t where);
    struct Wait {
        std::int64_t from_ns = 0;
        std::int64_t until_ns = 0;
    };
    // Time that the call waited for a stream; none: it did not wait.
    std::optional<Wait> end_call(const otf2::At& at, std::uint32_t region);
    // The thread was inside `where` until now. True if it waited for a stream, and so continues the stream's path.
    bool end_wait(std::uint32_t location, std::uint32_t thread, std::int64_t now_ns, std::uint32_t where);

 private:
    struct PathLaunch : Launch {
        std::uint32_t thread = otf2::nowhere;
        std::uint32_t where = otf2::nowhere;
        replay::Handoff left;  // at the end of the call
    };
    struct Call {
        std::uint32_t region = 0;
        Launches<PathLaunch>::Pointer launch{};
        std::uint32_t thread = otf2::nowhere;
        std::int64_t begin_ns = 0;
        bool waits = false;
        bool copies = false;                      // it is a copy, which waits only for work queued before it
        std::vector<std::uint32_t> streams = {};  // the streams that it waits for
        std::int64_t joined_ns = INT64_MIN;       // until then its thread continues the path of a stream
    };
    struct Stream {
        std::int64_t idle_since_ns = INT64_MIN;
        std::int64_t done_ns = INT64_MIN;  // end of the last work
        std::int64_t kernel_done_ns = INT64_MIN;
        replay::Handoff done;  // state at that end, if a call was waiting
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
    std::vector<std::size_t> waiting_;        // by process: number of waiting calls
    std::vector<std::uint32_t> last_caller_;  // by process: the thread
    bool joined_ = false;
};

}  // namespace gpu
