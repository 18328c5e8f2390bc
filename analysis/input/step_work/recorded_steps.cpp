// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/step_work/recorded_steps.hpp"

#include "base/columns/long_order.hpp"
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace analysis {

namespace {

constexpr std::size_t no_phase = base::recorded_phases.size();

// Index in base::recorded_phases.
std::size_t phase_of(const std::string& region)
{
    const auto phase = std::find_if(base::recorded_phases.begin(), base::recorded_phases.end(),
                                    [&](base::TrainingPhase known) { return base::text(known) == region; });
    return static_cast<std::size_t>(phase - base::recorded_phases.begin());
}

std::optional<std::int64_t> number_of(const otf2::EventAttributes& attributes,
                                      const std::optional<std::uint32_t>& attribute)
{
    if (!attribute) return std::nullopt;
    const std::optional<std::uint64_t> number = attributes.number(*attribute);
    if (!number || *number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

bool of_earlier_step(const RecordedExchange& a, const RecordedExchange& b)
{
    return a.step < b.step;
}

}  // namespace

bool is_phase(const std::string& region)
{
    return phase_of(region) != no_phase;
}

StepReader::StepReader(const otf2::Archive& archive, otf2::StepObserver& observer)
    : archive_{archive},
      observer_{observer},
      step_attribute_{archive.find_attribute(base::attribute::step)},
      bucket_attribute_{archive.find_attribute(base::attribute::bucket)},
      unfinished_attribute_{archive.find_attribute(base::attribute::unfinished)},
      state_(archive.locations.size())
{
    for (const otf2::Region& region : archive.regions) {
        phase_of_.push_back(phase_of(region.name));
        is_step_.push_back(region.name == base::region::step);
        is_ready_.push_back(region.name == base::region::bucket_ready);
        is_exchange_.push_back(region.name == base::region::bucket_exchange);
    }
}

void StepReader::enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes)
{
    State& state = state_[at.location];
    if (is_step_[region] && !state.in_step) {
        const std::optional<std::int64_t> number = number_of(attributes, step_attribute_);
        if (!number) return;
        state.in_step = true;
        state.depth = 0;
        state.step = {};
        state.step.number = *number;
        state.step.begin_ns = at.time_ns;
        state.step.location = at.location;
        observer_.begin_step(at, number);
        return;
    }
    if (is_exchange_[region]) {
        state.exchange_begin_ns = at.time_ns;
        state.exchange_step = number_of(attributes, step_attribute_);
        state.exchange_bucket = bucket_attribute_ ? attributes.number(*bucket_attribute_) : std::nullopt;
    }
    if (!state.in_step) return;
    if (is_ready_[region]) state.step.ready_ns = at.time_ns;
    if (state.depth == 0) state.phase_begin_ns = at.time_ns;
    ++state.depth;
}

void StepReader::leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes)
{
    State& state = state_[at.location];
    if (is_exchange_[region] && state.exchange_step) {
        const std::int64_t ns = at.time_ns - state.exchange_begin_ns;
        rank_of(at.location).exchanges.push_back({*state.exchange_step, ns, at.time_ns, state.exchange_bucket});
        state.exchange_step.reset();
    }
    if (!state.in_step) return;
    if (state.depth > 0) {
        --state.depth;
        const std::size_t phase = phase_of_[region];
        if (state.depth > 0 || phase == no_phase) return;
        state.step.phase_ns[phase] += at.time_ns - state.phase_begin_ns;
        return;
    }
    state.in_step = false;
    if (number_of(attributes, unfinished_attribute_).value_or(0) != 0) return;
    state.step.end_ns = at.time_ns;
    observer_.end_step(at);
    for (std::size_t p = 0; p < no_phase; ++p) seen_[p] = seen_[p] || state.step.phase_ns[p] > 0;
    rank_of(at.location).steps.push_back(state.step);
}

base::LongColumn<NumberedRow> StepReader::whole_steps(const RecordedRank& rank) const
{
    base::LongColumn<NumberedRow> recorded;
    for (const RecordedStep step : rank.steps) recorded.push_back({step.number, recorded.size()});
    recorded = in_order_of_numbers(std::move(recorded));
    base::LongColumn<NumberedRow> whole;
    std::optional<std::int64_t> before;
    for (const NumberedRow found : recorded) {
        const RecordedStep step = rank.steps[found.row];
        if (found.number == before) base::fail("step ", found.number, " was recorded twice in ", place(step.location));
        before = found.number;
        if (step.end_ns > step.begin_ns) whole.push_back(found);
    }
    return whole;
}

std::string StepReader::place(std::uint32_t location) const
{
    const std::uint32_t process = archive_.locations[location].process;
    return process == otf2::nowhere ? archive_.locations[location].name : archive_.processes[process].name;
}

// Sorts the exchanges, because a rank's threads are read one after the other.
ExchangesOfSteps::ExchangesOfSteps(base::LongColumn<RecordedExchange> exchanges) : exchanges_{std::move(exchanges)}
{
    if (!std::is_sorted(exchanges_.begin(), exchanges_.end(), of_earlier_step))
        exchanges_ = base::sorted(exchanges_, of_earlier_step);
}

void ExchangesOfSteps::go_to(std::int64_t step)
{
    last_end_ns_.reset();
    buckets_.clear();
    for (; next_ < exchanges_.size(); ++next_) {
        const RecordedExchange exchange = std::as_const(exchanges_)[next_];
        if (exchange.step > step) return;
        if (exchange.step < step) continue;
        last_end_ns_ = std::max(last_end_ns_.value_or(exchange.end_ns), exchange.end_ns);
        if (!exchange.bucket) continue;
        const auto at = std::lower_bound(buckets_.begin(), buckets_.end(), OfBucket{*exchange.bucket, INT64_MIN});
        if (at == buckets_.end() || at->first != *exchange.bucket)
            buckets_.insert(at, {*exchange.bucket, exchange.ns});
        else
            at->second += exchange.ns;
    }
}

const ExchangesOfSteps::OfBucket* ExchangesOfSteps::find(std::uint64_t bucket) const
{
    const auto at = std::lower_bound(buckets_.begin(), buckets_.end(), OfBucket{bucket, INT64_MIN});
    return at == buckets_.end() || at->first != bucket ? nullptr : &*at;
}

}  // namespace analysis
