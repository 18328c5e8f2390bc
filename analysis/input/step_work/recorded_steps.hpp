// SPDX-License-Identifier: Apache-2.0
// Steps as an archive with numbered steps records them, before ranks are compared.
#pragma once

#include "analysis/input/step_work/numbered_rows.hpp"
#include "base/columns/long_column.hpp"
#include "base/contract/phases.hpp"
#include "trace-tools/steps/step_collection.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

struct RecordedStep {
    std::int64_t number = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::array<std::int64_t, base::recorded_phases.size()> phase_ns{};
    std::optional<std::int64_t> ready_ns;  // when the last bucket of this rank was ready
    std::uint32_t location = 0;
};

// A visit of bucket_exchange.
struct RecordedExchange {
    std::int64_t step = 0;
    std::int64_t ns = 0;
    std::int64_t end_ns = 0;
    std::optional<std::uint64_t> bucket;
};

// Steps and exchanges of a rank, each in the order of recording.
struct RecordedRank {
    base::LongColumn<RecordedStep> steps;
    base::LongColumn<RecordedExchange> exchanges;
};

// Collects steps: the regions `step` with a recorded number.
class StepReader : public otf2::Visitor {
 public:
    // Archive and observer must outlive this reader.
    StepReader(const otf2::Archive& archive, otf2::StepObserver& observer);

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;

    std::map<std::uint32_t, RecordedRank>& ranks() { return ranks_; }  // by process

    // The steps of a rank that took any time, by number. Throws Error for a number that occurs twice.
    base::LongColumn<NumberedRow> whole_steps(const RecordedRank& rank) const;

    // True if any step has time in this one of base::recorded_phases.
    bool has_phase(std::size_t phase) const { return seen_[phase]; }

 private:
    struct State {
        bool in_step = false;
        int depth = 0;
        std::int64_t phase_begin_ns = 0;
        RecordedStep step;
        std::int64_t exchange_begin_ns = 0;
        std::optional<std::int64_t> exchange_step;
        std::optional<std::uint64_t> exchange_bucket;
    };

    RecordedRank& rank_of(std::uint32_t location) { return ranks_[archive_.locations[location].process]; }
    std::string place(std::uint32_t location) const;

    const otf2::Archive& archive_;
    otf2::StepObserver& observer_;
    std::optional<std::uint32_t> step_attribute_;
    std::optional<std::uint32_t> bucket_attribute_;
    std::optional<std::uint32_t> unfinished_attribute_;
    std::vector<std::size_t> phase_of_;  // [region]
    std::vector<bool> is_step_;
    std::vector<bool> is_ready_;
    std::vector<bool> is_exchange_;
    std::vector<State> state_;  // [location]
    std::array<bool, base::recorded_phases.size()> seen_{};
    std::map<std::uint32_t, RecordedRank> ranks_;
};

// Walks through a rank's exchanges, step by step.
class ExchangesOfSteps {
 public:
    using OfBucket = std::pair<std::uint64_t, std::int64_t>;  // bucket number, duration of its exchange in ns

    // exchanges: in any order.
    explicit ExchangesOfSteps(base::LongColumn<RecordedExchange> exchanges);

    // Goes to a step, which must be later than the steps before.
    void go_to(std::int64_t step);

    // End of the step's last exchange; none if it has no exchanges.
    std::optional<std::int64_t> last_end_ns() const { return last_end_ns_; }
    const std::vector<OfBucket>& buckets() const { return buckets_; }  // by number
    const OfBucket* find(std::uint64_t bucket) const;                  // nullptr if the bucket was not exchanged

 private:
    base::LongColumn<RecordedExchange> exchanges_;  // in the order of steps
    std::size_t next_ = 0;
    std::optional<std::int64_t> last_end_ns_;
    std::vector<OfBucket> buckets_;
};

// True for a name in base::recorded_phases.
bool is_phase(const std::string& region);

}  // namespace analysis
