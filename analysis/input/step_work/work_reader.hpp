// SPDX-License-Identifier: Apache-2.0
// Finds the work in steps in the events of an archive, in the same pass that finds the steps.
#pragma once

#include "analysis/input/step_work/recorded_work.hpp"
#include "trace-tools/steps/step_collection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

// Exchanges are
// 1. calls of MPI on a step's own location, except calls on files;
// 2. the regions bucket_exchange and parameter_exchange of another location, while the step is in wait_exchange. Other
//    time in that phase is own work: a rank that hands in its last bucket late, or continues late. Where ranks agree
//    beforehand on what they exchange (region negotiate), no exchange begins late on a single rank: time until the last
//    exchange of the step is waiting, and time after it own work.
// The n-th exchange of a step is matched with the n-th of every other rank.
class WorkReader : public otf2::StepObserver {
 public:
    // has_phases: regions directly inside of a step are phases (base::recorded_phases), and the rest of a step is
    // `other`.
    WorkReader(const otf2::Archive& archive, bool has_phases);

    void begin_step(const otf2::At& at, std::optional<std::int64_t> number) override;
    void end_step(const otf2::At& at) override;
    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;
    void metric(const otf2::At& at, std::uint32_t metric, const otf2::MetricValue& value) override;

    // Work in the steps with these numbers, which all ranks have. locations: [rank], the location that holds its steps.
    Work work(const base::LongColumn<std::int64_t>& numbers, const std::vector<std::uint32_t>& locations) const;

    // [step]: hash of the regions that it entered, in order. Equal steps have equal hashes in all runs of a program.
    base::LongColumn<std::uint64_t> signatures(const base::LongColumn<std::int64_t>& numbers,
                                               std::uint32_t location) const;

    bool numbered() const { return numbered_; }  // all steps have recorded numbers

 private:
    struct Open {
        std::uint32_t region = 0;
        std::int64_t begin_ns = 0;
    };
    // A counter that grows: its first and last value, with their times.
    struct Count {
        std::int64_t first_ns = 0;
        std::int64_t last_ns = 0;
        double first = 0.0;
        double last = 0.0;
        double per_ns() const
        {
            return last_ns > first_ns ? (last - first) / static_cast<double>(last_ns - first_ns) : -1.0;
        }
    };
    struct Place {
        std::vector<Open> open;
        std::size_t calls_open = 0;  // MPI calls that are open, one inside the other
        bool in_step = false;
        bool begins_now = false;  // the step begins at the next event
        std::size_t around = 0;   // number of regions that were open when the step began
        std::int64_t last_ns = 0;
        std::int64_t outside_ns = 0;                // time since the last call outside of regions, in this step
        std::uint32_t last_region = otf2::nowhere;  // region entered last; one that is polled counts once
        std::int64_t call_ns = 0;
        bool call_counts = false;  // the open call began in this step
        Count cpu;
        WorkOfStep step;
        WorkOfSteps steps;
    };

    std::size_t column_named(const std::string& name);
    std::size_t column_of(const Place& place);
    void spend(Place& place, std::int64_t time_ns);
    void add_own(Place& place, std::size_t column, std::int64_t ns);
    void add_outside(Place& place, std::size_t& column, const std::string& where);
    void end_call(Place& place, std::uint32_t region);
    void close(Place& place, std::size_t level, const otf2::At& at);
    base::LongColumn<std::size_t> rows_of(std::uint32_t location, const base::LongColumn<std::int64_t>& numbers) const;
    std::size_t process_of(std::uint32_t location) const;

    const otf2::Archive& archive_;
    bool has_phases_;
    bool numbered_ = true;
    bool negotiates_ = false;
    std::vector<bool> is_call_;           // [region]
    std::vector<bool> is_exchange_;       // [region]
    std::vector<std::uint64_t> hash_of_;  // [region]: hash of its name
    // Columns known so far: [region], for time in the region and for time before it.
    std::vector<std::size_t> column_of_;
    std::vector<std::size_t> column_before_;
    std::size_t column_other_ = SIZE_MAX;
    std::size_t column_end_ = SIZE_MAX;
    std::uint32_t wait_region_ = otf2::nowhere;
    std::uint32_t cpu_metric_ = otf2::nowhere;
    std::vector<std::string> columns_;
    std::vector<Place> places_;                          // [location]
    std::vector<base::LongColumn<TimeSpan>> exchanges_;  // [process], in the order of recording
    std::vector<std::int64_t> exchange_begin_ns_;        // [location]
};

}  // namespace analysis
