// SPDX-License-Identifier: Apache-2.0
// Occupies the CPU for a short time at fixed times, like an interrupt or a daemon of the operating system: noise with
// the frequency and length that FWQ and FTQ measure (Ferreira, Bridges, Brightwell: Characterizing application
// sensitivity to OS interference, SC 2008).
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/system/clock.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <algorithm>
#include <cmath>

namespace noisegen {

namespace {

constexpr std::int64_t slice_ns = 1'000'000;  // longest part of a burst in one step

struct Interrupts {
    std::int64_t period_ns = 0;
    std::int64_t burst_ns = 0;
    bool together = true;
};

Interrupts interrupts(const base::Settings& settings)
{
    const auto frequency = settings.get<base::Rate>("frequency");
    constexpr double most_per_s = 20'000.0;  // a sleep takes at least about 50 us
    constexpr double least_per_s = 0.001;
    if (frequency.of != base::Rate::Of::operations || frequency.per_second < least_per_s ||
        frequency.per_second > most_per_s)
        base::fail_usage("cpu.interrupt[frequency] must be 0.001/s to 20000/s, such as 100/s, not ",
                         settings.text("frequency"));
    const Interrupts found{.period_ns = std::llround(1e9 / frequency.per_second),
                           .burst_ns = settings.get<base::Nanoseconds>("burst").count(),
                           .together = settings.get<bool>("together")};
    if (found.burst_ns <= 0 || found.burst_ns >= found.period_ns)
        base::fail_usage("cpu.interrupt[burst] must be more than 0 and less than the ",
                         base::format(base::Nanoseconds{found.period_ns}), " from one interrupt to the next, not ",
                         settings.text("burst"));
    return found;
}

// Offset of this CPU's interrupts within the period: the same in every run of the same job.
std::int64_t phase(const Interrupts& interrupts, const Place& place)
{
    if (interrupts.together) return 0;
    constexpr std::uint64_t seed = 0x6372'6f73'7374'616c;
    base::Random random = base::random_stream(
        seed, (static_cast<std::uint64_t>(place.job.rank) << 32U) + static_cast<std::uint64_t>(place.index));
    return static_cast<std::int64_t>(base::draw_below(random, static_cast<std::uint64_t>(interrupts.period_ns)));
}

class CpuInterrupt final : public Stressor {
 public:
    CpuInterrupt(const Interrupts& interrupts, std::int64_t phase_ns) : interrupts_{interrupts}, phase_ns_{phase_ns} {}

    void begin(const Turn& turn) override
    {
        deadline_ns_ = turn.deadline_ns;
        // Computed for each turn, since CLOCK_REALTIME is steered and all nodes follow it.
        phase_here_ns_ = phase_ns_ - base::realtime_offset_ns();
        next_ns_ = first_from(base::now_ns());
        burst_end_ns_ = 0;
    }

    Work step() override
    {
        const std::int64_t now = base::now_ns();
        if (burst_end_ns_ == 0) {
            if (now < next_ns_) return {.bytes = 0, .operations = 0, .rest_until_ns = next_ns_};
            latest_ns_ = std::max(latest_ns_, now - next_ns_);
            burst_end_ns_ = now + interrupts_.burst_ns;
        }
        // The CPU is occupied for the burst's length in wall time, not in CPU time of this thread, even if other
        // threads run.
        const std::int64_t end = std::min({burst_end_ns_, now + slice_ns, deadline_ns_});
        while (base::now_ns() < end) {
        }
        if (end < burst_end_ns_) return {};
        burst_end_ns_ = 0;
        skip_to(first_from(end));
        return {.bytes = 0, .operations = 1, .rest_until_ns = next_ns_};
    }

    void end() override { burst_end_ns_ = 0; }

    std::string note() const override
    {
        const std::string period = base::format(base::Nanoseconds{interrupts_.period_ns});
        return base::join(
            "interrupts every ", period,
            interrupts_.together ? ", at its multiples on the real-time clock" : ", at a phase of its own",
            "; at worst ", latest_ns_ / 1000, " us late, ", skipped_, " missed");
    }

 private:
    // The first interrupt at or after the time `ns`.
    std::int64_t first_from(std::int64_t ns) const
    {
        const std::int64_t period = interrupts_.period_ns;
        const std::int64_t behind = (ns - phase_here_ns_) % period;
        return behind == 0 ? ns : ns + (behind < 0 ? 0 : period) - behind;
    }

    // Skips interrupts that were missed while another thread had the CPU.
    void skip_to(std::int64_t next)
    {
        skipped_ += static_cast<std::uint64_t>((next - next_ns_) / interrupts_.period_ns - 1);
        next_ns_ = next;
    }

    Interrupts interrupts_;
    std::int64_t phase_ns_;
    std::int64_t phase_here_ns_ = 0;  // phase on CLOCK_MONOTONIC
    std::int64_t deadline_ns_ = 0;
    std::int64_t next_ns_ = 0;
    std::int64_t burst_end_ns_ = 0;  // 0: no burst in progress
    std::int64_t latest_ns_ = 0;
    std::uint64_t skipped_ = 0;
};

}  // namespace

// Frequency and burst determine its intensity, so it has no rate.
extern const StressorCard cpu_interrupt{
    .name = "cpu.interrupt",
    .summary = "occupies the CPU briefly at fixed times, as operating systems do; an operation is an interrupt",
    .options = {{"frequency", "100/s", "interrupts per second, up to 20000/s"},
                {"burst", "100us", "length of an interrupt; less than the time between two"},
                {"together", "yes",
                 "yes: on all CPUs and nodes at once, by the real-time clock; no: each CPU at its own phase"}},
    .counts_operations = true,
    .needs =
        [](const base::Settings& settings) {
            interrupts(settings);
            return Needs{};
        },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        const Interrupts found = interrupts(settings);
        return std::make_unique<CpuInterrupt>(found, phase(found, place));
    },
};

}  // namespace noisegen
