// SPDX-License-Identifier: Apache-2.0
// Activities of GPUs into an archive: a location for each stream and for the calls of each thread.
//
// Names and kinds are Score-P's: the streams of a device are locations "CUDA[0:7]" of a location group of kind
// accelerator, their regions have the paradigm CUDA. What a call started has its attribute `correlation`.
#pragma once

#include "trace-tools/gpu/recording/activity.hpp"
#include "trace-tools/gpu/recording/clock_conversion.hpp"
#include "trace-tools/gpu/recording/lanes.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <cstdint>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace gpu {

// Fate of the activities; also properties of the process in the archive.
struct ActivitySummary {
    std::uint64_t written = 0;         // to the archive
    std::uint64_t dropped = 0;         // by the recording
    std::uint64_t late = 0;            // not written: they came after later ones of their row had been written
    std::uint64_t without_launch = 0;  // whose call is not known
    std::uint64_t before_launch = 0;   // that began before their call did, which no GPU can
    std::int64_t clock_error_ns = 0;   // of the conversion to the trace's clock, at most
    Nested nested;
};

// "of the GPU activities 3 were dropped by CUPTI, .." Empty if none was lost and none came before its launch.
std::string complaint(const ActivitySummary& summary);

// Used by one thread at a time. Activities come in any order, also those of one stream: each row keeps `window` of them
// back, and writes the earliest when it has more, or when what is known of its call must give way to later ones. So
// memory grows with rows and window, not with activities.
class ActivityRecorder {
 public:
    static constexpr std::size_t usual_window = 65536;
    explicit ActivityRecorder(otf2::Recorder& recorder, std::size_t window = usual_window);

    // Before the activities until this look: times after the last look are converted less well.
    void add(const ClockPair& look) { clock_.add(look); }
    // Throws Error where the recorder has no room for one more location.
    void add(const Activity& activity);
    // The call waits for this stream of its device, or for all of them.
    static constexpr std::int64_t all_streams = -1;
    void waits_for(std::uint32_t correlation, std::int64_t stream) { remember(waited_, correlation, stream); }
    // The call, and what it starts, belong to what the program numbered so.
    void belongs_to(std::uint32_t correlation, std::int64_t id) { remember(external_, correlation, id); }
    void dropped(std::uint64_t records) { summary_.dropped += records; }

    // Writes what was kept back, and the summary.
    ActivitySummary finish();

 private:
    struct Waiting {
        std::int64_t begin_ns;
        std::int64_t end_ns;
        std::uint64_t bytes;
        otf2::RegionRef region;
        std::uint32_t correlation;
        ActivityKind kind;
    };
    struct Later {
        bool operator()(const Waiting& one, const Waiting& other) const
        {
            return std::tuple{one.begin_ns, -one.end_ns} > std::tuple{other.begin_ns, -other.end_ns};
        }
    };
    struct Row {
        Lanes lanes;
        std::priority_queue<Waiting, std::vector<Waiting>, Later> waiting;
        std::int64_t written_ns = INT64_MIN;  // begin of the last that was written, of the recording's clock
        std::int64_t last_ns = INT64_MIN;     // .. of the trace's
    };
    using Numbers = std::map<std::uint32_t, std::int64_t>;  // by correlation

    Row& row_of(const Activity& activity);
    otf2::LocationRecorder& location(const Activity& activity, const std::string& suffix);
    otf2::RegionRef region(const Activity& activity);
    std::size_t most_remembered() const { return 4 * window_; }
    void remember(Numbers& numbers, std::uint32_t correlation, std::int64_t number) const;
    void write_those_before(std::uint32_t correlation);
    void write_first(Row& row);
    void check_launch(const Waiting& activity);

    otf2::Recorder& recorder_;
    std::size_t window_;
    ClockConversion clock_;
    std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, Row> rows_;  // of calls: thread; else device and stream
    std::map<std::pair<ActivityKind, std::string>, otf2::RegionRef> regions_;
    Numbers launched_;  // begin of the call, of the recording's clock
    Numbers waited_;
    Numbers external_;
    otf2::AttributeRef correlation_, external_id_, bytes_, waits_;
    ActivitySummary summary_;
};

}  // namespace gpu
