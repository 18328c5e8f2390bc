// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/threads/stress.hpp"

#include "base/system/clock.hpp"

#include <algorithm>
#include <utility>

namespace noisegen {

namespace {

constexpr std::int64_t judged_after_ns = 1'000'000'000;
constexpr std::int64_t sample_ns = 100'000'000;

double amount(const Work& work, base::Rate::Of of)
{
    return static_cast<double>(of == base::Rate::Of::bytes ? work.bytes : work.operations);
}

class Stress {
 public:
    Stress(Stressor& stressor, const Intensity& intensity, LevelState& state, SlotDone& done,
           const StressContext& context)
        : context_{context},
          stressor_{stressor},
          done_{done},
          intensity_{intensity},
          state_{state},
          of_{intensity.rate ? intensity.rate->of : base::Rate::Of::bytes},
          requested_per_s_{done.sample.requested_per_s},
          waited_before_ns_{waited_ns()}
    {
        if (intensity_.rate && !state_.control)
            state_.control.emplace(context.asked_per_s,
                                   intensity_.poisson ? RateControl::Arrival::poisson : RateControl::Arrival::fixed,
                                   context.arrival_seed);
        window_.begin_ns = done.sample.begin_ns;
    }

    void run()
    {
        if (intensity_.follow.empty())
            burst_by_burst();
        else
            follow_the_training();
        close_window(base::now_ns());
    }

 private:
    void burst_by_burst()
    {
        while (true) {
            const std::int64_t start = context_.start_ns;
            const Bursts::Burst burst = state_.bursts.next(base::now_ns() - start, context_.deadline_ns - start);
            const bool waits = burst.begin + start > base::now_ns();
            if (burst.begin + start >= context_.deadline_ns) {
                rest(context_.deadline_ns);
                break;
            }
            if (!context_.stop_event.sleep_exactly_until(burst.begin + start)) break;
            if (const std::int64_t now = base::now_ns(); now >= next_window()) end_window(now);
            const std::int64_t began = base::now_ns();
            if (waits) context_.figures.lateness_ns.push_back(began - (burst.begin + start));
            act(began, std::min(burst.end + start, context_.deadline_ns));
            state_.bursts.done(burst, base::now_ns() - began);
            if (context_.stop_event.is_set()) break;
        }
    }

    // Steps only while the training is in a followed phase. A step in progress when the phase ends is completed.
    void follow_the_training()
    {
        base::ControlPage& page = *context_.page;
        auto phase = static_cast<base::TrainingPhase>(page.phase.load());
        bool slept = false;
        for (std::int64_t now = base::now_ns(); now < context_.deadline_ns && !context_.stop_event.is_set();
             now = base::now_ns()) {
            if (now >= next_window()) end_window(now);
            if (!intensity_.follows(phase)) {
                phase = base::sleep_on_phase(page, phase, std::min(context_.deadline_ns, next_window()));
                slept = true;
                continue;
            }
            if (slept) context_.figures.late_to_follow_ns.push_back(now - page.updated_ns.load());
            if (context_.observers.on_followed) context_.observers.on_followed(context_.cpu, done_, true, now);
            act(now, context_.deadline_ns);
            const std::int64_t ended = base::now_ns();
            if (context_.observers.on_followed) context_.observers.on_followed(context_.cpu, done_, false, ended);
            phase = static_cast<base::TrainingPhase>(page.phase.load());
            slept = false;
            if (!intensity_.follows(phase)) context_.figures.late_to_leave_ns.push_back(ended - page.updated_ns.load());
        }
    }

    bool left_the_phase() const
    {
        return !intensity_.follow.empty() && !intensity_.follows(static_cast<base::TrainingPhase>(
                                                 context_.page->phase.load(std::memory_order_relaxed)));
    }

    // The requested rate applies while the level is on; for a level that follows the training, to the share of time in
    // which it was on.
    double requested_per_s(const Sample& sample, std::int64_t end_ns) const
    {
        if (intensity_.follow.empty()) return requested_per_s_;
        const auto length = static_cast<double>(end_ns - sample.begin_ns);
        return length > 0.0 ? requested_per_s_ * static_cast<double>(sample.busy_ns) / length : 0.0;
    }

    void act(std::int64_t began_ns, std::int64_t until_ns)
    {
        Turn turn{.begin_ns = context_.start_ns + done_.slot->begin.count(),
                  .deadline_ns = until_ns,
                  .bytes_per_s = 0.0,
                  .operations_per_s = 0.0};
        if (intensity_.rate)
            (of_ == base::Rate::Of::bytes ? turn.bytes_per_s : turn.operations_per_s) = context_.asked_per_s;
        stressor_.begin(turn);
        busy_since_ns_ = began_ns;
        if (state_.control) {
            state_.control->begin(began_ns);
            rest(std::min(state_.control->due(), until_ns));
        }
        for (std::int64_t now = base::now_ns(); now < until_ns && !context_.stop_event.is_set() && !left_the_phase();
             now = base::now_ns()) {
            if (state_.control) state_.control->before(now);
            const Work work = stressor_.step();
            add(window_.work, work);
            if (work.stopped_until_ns != 0 && context_.observers.on_stopped)
                context_.observers.on_stopped(context_.cpu, done_, work.stopped_from_ns, work.stopped_until_ns);
            context_.figures.bytes.fetch_add(work.bytes, std::memory_order_relaxed);
            context_.figures.operations.fetch_add(work.operations, std::memory_order_relaxed);
            const std::int64_t after = base::now_ns();
            if (after >= next_window()) end_window(after);
            std::int64_t next = work.rest_until_ns;
            if (state_.control) next = std::max(next, state_.control->after(amount(work, of_)));
            if (next > after) rest(std::min(next, until_ns));
        }
        stressor_.end();
        const std::int64_t ended = base::now_ns();
        if (state_.control) state_.control->end(std::min(ended, until_ns));
        window_.busy_ns += ended - std::exchange(busy_since_ns_, 0);
    }

    // Sleeps; returns false if the stop event was set. Meanwhile it reports samples of a level that is on but sleeps.
    bool rest(std::int64_t until_ns)
    {
        while (busy_since_ns_ != 0 && next_window() < until_ns) {
            if (!context_.stop_event.sleep_until(next_window())) return false;
            end_window(base::now_ns());
        }
        if (!context_.stop_event.sleep_until(until_ns)) return false;
        if (const std::int64_t now = base::now_ns(); now >= next_window()) end_window(now);
        return true;
    }

    // Run-queue delay of this thread since it began.
    std::int64_t waited_ns() const
    {
        return context_.runqueue_delay != nullptr ? context_.runqueue_delay->waited_ns() : 0;
    }

    // Windows end at the first check after a multiple of a tenth of a second since the start of the run.
    std::int64_t next_window() const
    {
        const std::int64_t since = window_.begin_ns - context_.start_ns;
        return context_.start_ns + (since / sample_ns + 1) * sample_ns;
    }

    void end_window(std::int64_t now)
    {
        close_window(now);
        judge();
    }

    void close_window(std::int64_t now)
    {
        if (now <= window_.begin_ns) return;
        if (busy_since_ns_ != 0) window_.busy_ns += now - std::exchange(busy_since_ns_, now);
        const std::int64_t waited = waited_ns();
        window_.waited_ns = std::min(waited - std::exchange(waited_before_ns_, waited), window_.busy_ns);
        window_.end_ns = now;
        window_.requested_per_s = requested_per_s(window_, now);
        window_.requested_duty = done_.sample.requested_duty;
        Sample& sample = done_.sample;
        add(sample.work, window_.work);
        sample.busy_ns += window_.busy_ns;
        sample.waited_ns += window_.waited_ns;
        sample.end_ns = now;
        sample.requested_per_s = requested_per_s(sample, now);
        if (context_.observers.on_sample) context_.observers.on_sample(context_.cpu, done_, window_);
        window_ = {};
        window_.begin_ns = now;
    }

    // Judges the CPU's whole time with this level, including this slot.
    void judge()
    {
        if (!intensity_.asks()) return;
        LevelTotal so_far = state_.total;
        add(so_far, done_.sample);
        if (so_far.on_ns < judged_after_ns) return;
        so_far.cpus = 1;
        const double share = reached(intensity_, so_far);
        if (share < rate_kept) context_.fell_short(share);
    }

    const StressContext& context_;
    Stressor& stressor_;
    SlotDone& done_;
    const Intensity& intensity_;
    LevelState& state_;
    base::Rate::Of of_;
    double requested_per_s_;
    std::int64_t waited_before_ns_;
    std::int64_t busy_since_ns_ = 0;  // 0 between bursts
    Sample window_;
};

}  // namespace

void stress(Stressor& stressor, const Intensity& intensity, LevelState& state, SlotDone& done,
            const StressContext& context)
{
    Stress{stressor, intensity, state, done, context}.run();
}

}  // namespace noisegen
