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
    std::int64_t number = 0;  // attribute `step`, else counted from 0 on its rank
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

// The steps of a rank, possibly more than fit into memory.
struct StepsOfRank {
    std::int64_t rank = 0;         // rank in the largest MPI communicator, or else process number
    std::uint32_t location = 0;    // the rank's location with the most steps
    base::LongColumn<Step> steps;  // in time order
    std::vector<base::LongColumn<std::int64_t>> phase_ns;  // [StepTable::phases][step]; phases add up to the step
};

// Keeps only the wanted steps.
void keep_steps(StepsOfRank& rank, const std::function<bool(const Step&)>& wanted);

struct StepTable {
    std::vector<std::string> phases;  // regions directly inside steps, in the order of their first visits; then `other`
    std::vector<StepsOfRank> ranks;   // ranks that have steps, in rank order
};

// Sees all events in the pass over the archive that finds the steps. begin_step() and end_step() precede the event that
// causes them. An unfinished step gets no end_step(); the next begin_step() replaces it.
class StepObserver : public Visitor {
 public:
    virtual void begin_step(const At& at, std::optional<std::int64_t> number) = 0;
    virtual void end_step(const At& at) = 0;
};

class StepCollection {
 public:
    // Both arguments must outlive this object; the observer may be null.
    explicit StepCollection(const Archive& archive, StepObserver* observer = nullptr);

    // Begins a step at the event's location; an unfinished earlier step is discarded. Steps without a number are
    // counted from 0.
    void begin(const At& at, std::optional<std::int64_t> number = {});
    void end(const At& at);

    // Regions with equal names are one phase. A region named `other` counts as time outside all phases.
    void phase(std::uint32_t location, std::uint32_t region, std::int64_t ns);

    StepTable table();  // moves the collected steps out; call once

 private:
    struct Place {
        Step step;
        std::vector<std::int64_t> phase_ns;
        base::LongColumn<Step> steps;
        std::vector<base::LongColumn<std::int64_t>> phases_ns;  // by index in phases_; may be shorter
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
