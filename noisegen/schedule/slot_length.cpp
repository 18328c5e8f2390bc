// SPDX-License-Identifier: Apache-2.0
#include "noisegen/schedule/slot_length.hpp"

#include "base/contract/control_file.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"

#include <algorithm>

namespace noisegen {

namespace {

constexpr std::int64_t tick_ns = 2'000'000;
constexpr std::int64_t least_ns = 3'000'000'000;  // shortest measurement
constexpr std::int64_t most_ns = 30'000'000'000;  // longest measurement, needed for slow steps only
constexpr std::uint64_t enough_steps = 10;
constexpr std::uint64_t warm_up_steps = 3;

struct Seen {
    std::uint64_t step = 0;
    std::int64_t at_ns = 0;
};

// Waits until the counter differs from `step`; returns none at the deadline.
std::optional<Seen> next_step(const base::ControlPage& page, std::uint64_t step, std::int64_t deadline_ns)
{
    while (!base::stop_requested()) {
        const std::uint64_t now_at = page.step.load();
        const std::int64_t now = base::now_ns();
        if (now_at != step) return Seen{now_at, now};
        if (now >= deadline_ns) return {};
        base::sleep_until_ns(now + tick_ns);
    }
    return {};
}

}  // namespace

base::Nanoseconds slot_of(const MeasuredStep& step)
{
    constexpr std::int64_t tenth_ns = 100'000'000;
    const std::int64_t tenths = ((9 + step.ahead) * step.length.count() + tenth_ns - 1) / tenth_ns;
    return base::Nanoseconds{std::max<std::int64_t>(2, tenths) * tenth_ns};
}

std::optional<MeasuredStep> measure_step(const std::filesystem::path& run, const std::string& host,
                                         base::Nanoseconds patience)
{
    const base::ControlFile control = base::ControlFile::open(run, host);
    const base::ControlPage& page = control.page();
    const std::int64_t deadline = base::now_ns() + patience.count();
    std::optional<Seen> first = next_step(page, page.step.load(), deadline);
    while (first && first->step < warm_up_steps) first = next_step(page, first->step, deadline);
    if (!first) return {};
    Seen last = *first;
    while (true) {
        const std::int64_t measured = last.at_ns - first->at_ns;
        const bool enough = measured >= least_ns && last.step - first->step >= enough_steps;
        if (enough || measured >= most_ns) break;
        const std::optional<Seen> seen = next_step(page, last.step, first->at_ns + most_ns);
        if (!seen) break;
        last = *seen;
    }
    if (last.step <= first->step) return {};
    return MeasuredStep{
        .length = base::Nanoseconds{(last.at_ns - first->at_ns) / static_cast<std::int64_t>(last.step - first->step)},
        .ahead = std::max<std::int64_t>(1, page.steps_ahead.load())};
}

std::vector<SeenSteps> watch_steps(const std::filesystem::path& run, const std::string& host, std::int64_t origin_ns,
                                   std::int64_t until_ns)
{
    const base::ControlFile control = base::ControlFile::open(run, host);
    const base::ControlPage& page = control.page();
    std::vector<SeenSteps> steps;
    std::optional<Seen> last = next_step(page, page.step.load(), until_ns);
    while (last) {
        const std::optional<Seen> seen = next_step(page, last->step, until_ns);
        // A counter that decreased belongs to a restarted training.
        if (seen && seen->step > last->step)
            steps.push_back({last->at_ns - origin_ns, seen->at_ns - last->at_ns, seen->step - last->step});
        last = seen;
    }
    return steps;
}

}  // namespace noisegen
