// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/training/phase_clock.hpp"

#include "base/contract/trace_names.hpp"

#include <algorithm>
#include <stdexcept>

namespace training {

namespace {

std::size_t column(Phase phase)
{
    const auto found = std::ranges::find(phases, phase);
    if (found == phases.end()) throw std::logic_error{"a time without a phase"};
    return static_cast<std::size_t>(found - phases.begin());
}

// Waiting phases are marked as task waits, so that an analysis of the trace attributes them to the transport thread's
// work.
otf2::RegionRole role_of(Phase phase)
{
    const bool waits = base::card_of(phase).time == base::PhaseTime::waits;
    return waits ? otf2::RegionRole::task_wait : otf2::RegionRole::function;
}

}  // namespace

std::int64_t& StepTimes::of(Phase phase)
{
    return phase_ns[column(phase)];
}
std::int64_t StepTimes::of(Phase phase) const
{
    return phase_ns[column(phase)];
}

std::int64_t StepTimes::without_control_ns() const
{
    return end_ns - begin_ns - of(Phase::control_delay) - of(Phase::control_settle);
}

PhaseClock::PhaseClock(otf2::Recorder& recorder, otf2::LocationRecorder& location, base::ControlPage* page)
    : recorder_{recorder},
      location_{location},
      page_{page},
      step_region_{recorder.in_group(base::region_group::phases, recorder.region(base::region::step))},
      step_attribute_{
          recorder.attribute(base::attribute::step, otf2::Type::uint64, "number of the training step, from 0")}
{
    for (const Phase phase : phases)
        if (phase != Phase::other)
            regions_[column(phase)] =
                recorder.in_group(base::region_group::phases, recorder.region(text(phase), role_of(phase)));
}

void PhaseClock::begin_step(std::uint64_t step, std::int64_t at_ns)
{
    times_ = StepTimes{.step = step, .begin_ns = at_ns};
    since_ns_ = at_ns;
    location_.enter(step_region_, at_ns, {{step_attribute_, step}});
    if (page_ != nullptr) page_->step.store(step, std::memory_order_relaxed);
    cut(Phase::other, at_ns);
    for (PhaseListener* listener : listeners_) listener->begin_step(step);
}

void PhaseClock::enter(Phase phase, std::int64_t at_ns)
{
    leave(at_ns);
    cut(phase, at_ns);
    location_.enter(regions_[column(phase)], at_ns);
    for (PhaseListener* listener : listeners_) listener->entered(phase, times_.step);
}

void PhaseClock::leave(std::int64_t at_ns)
{
    for (PhaseListener* listener : listeners_) listener->end_phase(at_ns);
    if (phase_ == Phase::other) return;
    location_.leave(regions_[column(phase_)], at_ns);
    cut(Phase::other, at_ns);
}

StepTimes PhaseClock::end_step(std::int64_t at_ns)
{
    leave(at_ns);
    cut(Phase::none, at_ns);
    times_.end_ns = at_ns;
    location_.leave(step_region_, at_ns);
    for (PhaseListener* listener : listeners_) listener->end_step();
    return times_;
}

void PhaseClock::drop_step(std::int64_t at_ns)
{
    leave(at_ns);
    cut(Phase::none, at_ns);
    const otf2::AttributeRef unfinished =
        recorder_.attribute(base::attribute::unfinished, otf2::Type::uint64, "1: the program ended during this step");
    location_.leave(step_region_, at_ns, {{unfinished, std::uint64_t{1}}});
    for (PhaseListener* listener : listeners_) listener->end_step();
}

PhaseClock::Whereabouts PhaseClock::whereabouts() const
{
    return {.phase = now_in_.load(std::memory_order_relaxed),
            .step = now_at_step_.load(std::memory_order_relaxed),
            .since_ns = changed_ns_.load(std::memory_order_relaxed)};
}

void PhaseClock::cut(Phase next, std::int64_t at_ns)
{
    if (phase_ != Phase::none) times_.of(phase_) += at_ns - since_ns_;
    phase_ = next;
    since_ns_ = at_ns;
    now_in_.store(next, std::memory_order_relaxed);
    now_at_step_.store(times_.step, std::memory_order_relaxed);
    mark(at_ns);
    if (page_ != nullptr) base::publish_phase(*page_, next, at_ns);
}

}  // namespace training
