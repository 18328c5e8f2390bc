// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/supervise.hpp"

#include "base/cli/progress.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/openmetrics.hpp"
#include "base/system/clock.hpp"
#include "base/system/launcher.hpp"
#include "base/system/local_rank.hpp"
#include "base/system/stop.hpp"
#include "noisegen/execution/outcome.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <unistd.h>

namespace noisegen {

namespace {

constexpr std::int64_t tick_ns = 500'000'000;              // longest wait without a report
constexpr std::int64_t tick_on_terminal_ns = 100'000'000;  // interval of the status line

// The request as text: "rate of 4GiB/s", "duty of 30%".
std::string asked_for(const Intensity& asked)
{
    return asked.rate ? "rate of " + asked_text(*asked.rate) : "duty of " + base::format(asked.duty);
}

const Slot& slot_at(const std::vector<Slot>& table, base::Nanoseconds at)
{
    const auto after = std::upper_bound(table.begin(), table.end(), at,
                                        [](base::Nanoseconds time, const Slot& slot) { return time < slot.begin; });
    return after == table.begin() ? table.front() : *std::prev(after);
}

// The status "3.2 GB/s (requested 4GB/s)" for the current slot so far.
class Status {
 public:
    explicit Status(const Schedule& schedule) : schedule_{schedule} {}

    // Call it repeatedly: a slot's time counts from the first call in that slot.
    void look(const Slot& slot, std::uint64_t bytes)
    {
        if (slot_ == &slot) return;
        slot_ = &slot;
        begin_ns_ = base::now_ns();
        bytes_before_ = bytes;
    }

    std::string text(const Slot& slot, std::uint64_t bytes) const
    {
        const std::int64_t time_ns = base::now_ns() - begin_ns_;
        const double speed =
            time_ns > 0 ? static_cast<double>(bytes - bytes_before_) * 1e9 / static_cast<double>(time_ns) : 0.0;
        std::string line = base::join("block ", slot.block, ", ", noisegen::text(schedule_, slot.treatment));
        if (speed > 0.0) line += ", " + base::speed_text(speed);
        if (slot.treatment.size() == 1)
            if (const auto& asked = schedule_.levels[slot.treatment.front()].intensity; asked.rate)
                line += " (requested " + asked_text(*asked.rate) + ")";
        return line;
    }

 private:
    const Schedule& schedule_;
    const Slot* slot_ = nullptr;
    std::int64_t begin_ns_ = 0;
    std::uint64_t bytes_before_ = 0;
};

// The current noise as OpenMetrics.
class NoiseMetrics {
 public:
    explicit NoiseMetrics(const Plan& plan)
        : schedule_{plan.request.schedule},
          file_{base::openmetrics_file_of_process(plan.request.openmetrics, base::local_rank().rank)}
    {
    }

    // `treatment` is null after noise has ended.
    void write(const Treatment* treatment, std::uint64_t bytes, std::uint64_t operations)
    {
        const std::int64_t now = base::now_ns();
        if (treatment != nullptr && !file_.due(now)) return;
        std::vector<base::MetricFamily> families = by_level(treatment);
        families.push_back({"crosstalk_noise_running",
                            "",
                            "1 while the schedule runs.",
                            false,
                            {{{}, treatment != nullptr ? 1.0 : 0.0}}});
        families.push_back(
            {"crosstalk_noise_achieved_bytes", "bytes", "Moved so far.", true, {{{}, static_cast<double>(bytes)}}});
        families.push_back(
            {"crosstalk_noise_achieved_operations", "", "Done so far.", true, {{{}, static_cast<double>(operations)}}});
        file_.write(families, now);
    }

 private:
    std::vector<base::MetricFamily> by_level(const Treatment* treatment) const
    {
        base::MetricFamily on{"crosstalk_noise_factor_on", "", "1 while this level of the factor is on.", false, {}};
        base::MetricFamily bytes{"crosstalk_noise_requested_bytes_per_second",
                                 "bytes_per_second",
                                 "Requested rate of the level while it is on; none: full speed.",
                                 false,
                                 {}};
        base::MetricFamily operations{"crosstalk_noise_requested_operations_per_second",
                                      "operations_per_second",
                                      "Requested rate of the level while it is on; none: full speed.",
                                      false,
                                      {}};
        for (std::size_t i = 0; i < schedule_.levels.size(); ++i) {
            const FactorLevel& level = schedule_.levels[i];
            const std::vector<std::pair<std::string, std::string>> labels{{"factor", level.factor},
                                                                          {"level", level.level}};
            const bool is_on = treatment != nullptr && std::ranges::find(*treatment, i) != treatment->end();
            on.values.push_back({labels, is_on ? 1.0 : 0.0});
            if (const auto& rate = level.intensity.rate)
                (rate->of == base::Rate::Of::bytes ? bytes : operations).values.push_back({labels, rate->per_second});
        }
        return {on, bytes, operations};
    }

    const Schedule& schedule_;
    base::OpenMetricsFile file_;
};

}  // namespace

void warn_of_moved_noise(Team& team)
{
    for (const MovedNoise& moved : team.newly_moved())
        base::warn("the noise of CPU ", moved.cpu, " is on CPU ", base::format_cpus(moved.to),
                   " now: it was moved (taskset, a cpuset)");
}

std::string supervise(const Plan& plan, std::int64_t start_ns, Team& team, OverlapWatch& watch, TrainingWatch& training)
{
    const Schedule& schedule = plan.request.schedule;
    const bool speaks = base::job_rank().rank == 0;
    const pid_t parent = ::getppid();
    const std::int64_t tick = speaks && ::isatty(STDERR_FILENO) == 1 ? tick_on_terminal_ns : tick_ns;
    base::Progress progress{"noisegen"};
    Status status{schedule};
    NoiseMetrics metrics{plan};
    std::string reason;
    while (reason.empty()) {
        for (const auto& [level, share] : team.newly_short())
            base::warn(text(schedule.levels[level]), " does not reach its ",
                       asked_for(schedule.levels[level].intensity), ": ", std::round(share * 100.0), "% of it");
        warn_of_moved_noise(team);
        const base::Nanoseconds at{std::max<std::int64_t>(0, base::now_ns() - start_ns)};
        const Slot& slot = slot_at(plan.table, at);
        status.look(slot, team.bytes());
        if (speaks && progress.due())
            progress.show(base::seconds(at) / base::seconds(plan.request.duration), status.text(slot, team.bytes()));
        metrics.write(&slot.treatment, team.bytes(), team.operations());
        watch.look();
        if (const auto news = training.news(base::now_ns())) base::warn(*news);
        if (team.failed())
            reason = "failure";
        else if (plan.request.on_overlap == "stop" && !watch.found().empty())
            reason = "overlap";
        else if (::getppid() != parent)
            reason = "parent died";
        else if (base::stop_requested())
            reason =
                base::stop_signal() == 0 ? "parent died" : std::string{"signal "} + ::strsignal(base::stop_signal());
        else if (team.done())
            reason = "duration";
        else
            team.wait_for_news(base::now_ns() + tick, base::stop_descriptor());
    }
    metrics.write(nullptr, team.bytes(), team.operations());
    return reason;
}

}  // namespace noisegen
