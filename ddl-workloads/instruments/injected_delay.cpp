// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/instruments/injected_delay.hpp"

#include "base/error.hpp"
#include "base/system/waiting.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <utility>

namespace ddl {

InjectedDelay parse_injected_delay(const std::string& whole)
{
    const std::vector<std::string> words = base::split(whole, ':');
    if (words.size() < 3)
        base::fail_usage("--delay ", whole, ": give RANK:PHASE:TIME, such as 1:backward:5ms or 0:load:2ms:every=10");
    InjectedDelay delay{.rank = base::parse<int>(words[0]),
                        .phase = base::parse_training_phase(words[1]),
                        .time = base::parse<base::Nanoseconds>(words[2])};
    for (std::size_t i = 3; i < words.size(); ++i) {
        if (words[i] == "busy")
            delay.busy = true;
        else if (words[i].starts_with("every="))
            delay.every = base::parse<std::int64_t>(words[i].substr(6));
        else if (words[i].starts_with("for="))
            delay.length = base::parse<std::int64_t>(words[i].substr(4));
        else
            base::fail_usage("--delay ", whole, ": '", words[i], "' is not every=N, for=M or busy");
    }
    if (delay.phase == Phase::control_delay || delay.phase == Phase::control_settle)
        base::fail_usage("--delay ", whole, ": ", text(delay.phase), " is reserved for --control-delay");
    if (delay.rank < 0) base::fail_usage("--delay ", whole, ": ranks count from 0");
    if (delay.time.count() <= 0) base::fail_usage("--delay ", whole, ": a delay must be more than zero");
    if (delay.every < 1) base::fail_usage("--delay ", whole, ": every must be at least 1");
    if (delay.length < 1 || delay.length > delay.every)
        base::fail_usage("--delay ", whole, ": for=M must be between 1 and N of every=N");
    return delay;
}

void add_delay_options(base::Options& options, DelayPlan& plan)
{
    options.group("Known delays");
    options.add("control-delay", plan.control, "delay of a step while noisegen's control.delay is on", "TIME");
    options.add_words(
        "delay",
        "RANK:PHASE:TIME[:every=N[:for=M]][:busy]: delay that rank in that phase of each step, or of the first (M) "
        "of every N steps, sleeping or busy",
        "DELAY");
    options.then([&options, &plan] {
        for (const std::string& text : options.texts("delay")) plan.injected.push_back(parse_injected_delay(text));
        if (plan.control.count() < 0) base::fail_usage("--control-delay must not be negative");
    });
}

DelayInjector::DelayInjector(otf2::Recorder& recorder, otf2::LocationRecorder& location,
                             std::vector<InjectedDelay> delays)
    : location_{location},
      region_{recorder.region("injected_delay")},
      delays_{std::move(delays)},
      made_(delays_.size(), false)
{
}

void DelayInjector::begin_step(std::uint64_t)
{
    made_.assign(delays_.size(), false);
}

void DelayInjector::entered(Phase phase, std::uint64_t step)
{
    for (std::size_t i = 0; i < delays_.size(); ++i) {
        const InjectedDelay& delay = delays_[i];
        const bool is_on = step % static_cast<std::uint64_t>(delay.every) < static_cast<std::uint64_t>(delay.length);
        if (delay.phase != phase || !is_on || made_[i]) continue;
        made_[i] = true;
        const std::int64_t begin = base::now_ns();
        location_.enter(region_, begin);
        const std::int64_t deadline = begin + delay.time.count();
        if (!delay.busy) base::sleep_through(deadline);
        while (base::now_ns() < deadline) {
        }
        const std::int64_t end = base::now_ns();
        location_.leave(region_, end);
        ++count_;
        total_ns_ += end - begin;
    }
}

}  // namespace ddl
