// SPDX-License-Identifier: Apache-2.0
// Writes GPU activities into an archive: one location for each stream, and one for the calls of each thread.
//
// Names and kinds follow Score-P: the streams of a device are locations "CUDA[0:7]" in a location group of kind
// accelerator, and their regions have the paradigm CUDA. Activities carry the `correlation` of the call that started
// them as an attribute.
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

// Counts of activities; also stored as properties of the process in the archive.
struct ActivitySummary {
    std::uint64_t written = 0;         // written to the archive
    std::uint64_t dropped = 0;         // dropped by the recording
    std::uint64_t late = 0;            // not written, since later ones of the same row had already been written
    std::uint64_t without_launch = 0;  // without a known call
    std::uint64_t before_launch = 0;   // began before their call, which is impossible for a GPU
    std::int64_t clock_error_ns = 0;   // largest error of the conversion to the trace's clock
    Nested nested;
};

// Returns a text such as "of the GPU activities 3 were dropped by CUPTI, .."; empty if none was lost and none came
// before its launch.
std::string complaint(const ActivitySummary& summary);

// Used by one thread at a time. Activities may come in any order, even on one stream: each row holds back `window` of
// them, and writes the earliest if it has more, or if the table of calls must drop the call of that activity. So memory
// grows with rows and window, not with the number of activities.
class ActivityRecorder {
 public:
    static constexpr std::size_t usual_window = 65536;
    explicit ActivityRecorder(otf2::Recorder& recorder, std::size_t window = usual_window);

    // Call before adding the activities until this reading: times after the last reading are converted less accurately.
    void add(const ClockPair& look) { clock_.add(look); }
    // Throws Error if the recorder has no memory for another location.
    void add(const Activity& activity);
    // States that the call waits for this stream of its device, or for all of its streams.
    static constexpr std::int64_t all_streams = -1;
    void waits_for(std::uint32_t correlation, std::int64_t stream) { remember(waited_, correlation, stream); }
    // States that the call, and the activity that it starts, belong to the program's object with number `id`.
    void belongs_to(std::uint32_t correlation, std::int64_t id) { remember(external_, correlation, id); }
    void dropped(std::uint64_t records) { summary_.dropped += records; }

    // Writes activities held back, and the summary.
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
        std::int64_t written_ns = INT64_MIN;  // start of the last one written, on the recording's clock
        std::int64_t last_ns = INT64_MIN;     // the same on the trace's clock
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
    std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, Row> rows_;  // by thread for calls; else device and stream
    std::map<std::pair<ActivityKind, std::string>, otf2::RegionRef> regions_;
    Numbers launched_;  // start of each call, on the recording's clock
    Numbers waited_;
    Numbers external_;
    otf2::AttributeRef correlation_, external_id_, bytes_, waits_;
    ActivitySummary summary_;
};

}  // namespace gpu
