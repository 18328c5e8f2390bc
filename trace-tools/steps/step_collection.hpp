// SPDX-License-Identifier: Apache-2.0
// Collects steps and their phases from the events of an archive.
#pragma once

#include "base/columns/long_column.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace otf2 {

struct Step {
    std::int64_t number = 0;  // its attribute `step`, or counted from 0 on its rank
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

// The steps of a rank, possibly more than fit into memory.
struct StepsOfRank {
    std::int64_t rank = 0;         // rank in the largest MPI communicator, or else process number
    std::uint32_t location = 0;    // the one of the rank with the most steps
    base::LongColumn<Step> steps;  // in the order of time
    std::vector<base::LongColumn<std::int64_t>> phase_ns;  // by StepTable::phases, then by step; they add up to it
};

// Drops all steps but the wanted ones.
void keep_steps(StepsOfRank& rank, const std::function<bool(const Step&)>& wanted);

struct StepTable {
    std::vector<std::string> phases;  // regions directly inside steps, in the order of their first visits; then `other`
    std::vector<StepsOfRank> ranks;   // ranks that have steps, in rank order
};

// Sees all events of the reading that finds the steps, and the begin and end of each step, reported before the event
// that causes them. A step that does not end is reported only by the begin of the next.
class StepObserver : public Visitor {
 public:
    virtual void begin_step(const At& at, std::optional<std::int64_t> number) = 0;
    virtual void end_step(const At& at) = 0;
};

class StepCollection {
 public:
    // The observer, if any, must outlive it.
    explicit StepCollection(const Archive& archive, StepObserver* observer = nullptr);

    // Begins a step at the event's location; an unfinished earlier step is discarded. Steps without a number are
    // counted.
    void begin(const At& at, std::optional<std::int64_t> number = {});
    void end(const At& at);

    // Regions with equal names are one phase. A region called `other` is merged with the time in no other phase.
    void phase(std::uint32_t location, std::uint32_t region, std::int64_t ns);

    StepTable table();  // gives away what was collected

 private:
    struct Place {
        Step step;
        std::vector<std::int64_t> phase_ns;
        base::LongColumn<Step> steps;
        std::vector<base::LongColumn<std::int64_t>> phases_ns;  // by phases_, as many as it needs
        base::LongColumn<std::int64_t> rest_ns;
    };

    const Archive& archive_;
    StepObserver* observer_;
    std::vector<std::size_t> phase_of_;  // by region
    std::vector<std::string> phases_;
    std::vector<Place> places_;  // by location
};

// Reads all events like read_soundly(). `steps` sees each event before `observer` does.
void read_observed(Reader& reader, Visitor& steps, StepObserver* observer);

}  // namespace otf2
