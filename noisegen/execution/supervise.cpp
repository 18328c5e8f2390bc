#include "noisegen/execution/supervise.hpp"

#include "base/cli/progress.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/system/clock.hpp"
#include "base/system/launcher.hpp"
#include "base/system/stop.hpp"
#include "noisegen/execution/outcome.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <unistd.h>

namespace noisegen {

namespace {

constexpr std::int64_t tick_ns = 500'000'000;              // without news
constexpr std::int64_t tick_on_terminal_ns = 100'000'000;  // of the status line

// "rate of 4GiB/s", "duty of 30%".
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

// "3.2 GB/s (asked for 4GB/s)" for the slot that is on, over its time so far.
class Status {
 public:
    explicit Status(const Schedule& schedule) : schedule_{schedule} {}

    // To be called again and again: a slot's time counts from the first look at it.
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
        if (speed > 0.0) line += ", " + speed_text(speed);
        if (slot.treatment.size() == 1)
            if (const auto& asked = schedule_.levels[slot.treatment.front()].intensity; asked.rate)
                line += " (asked for " + asked_text(*asked.rate) + ")";
        return line;
    }

 private:
    const Schedule& schedule_;
    const Slot* slot_ = nullptr;
    std::int64_t begin_ns_ = 0;
    std::uint64_t bytes_before_ = 0;
};

}  // namespace

std::string supervise(const Plan& plan, std::int64_t start_ns, Team& team, OverlapWatch& watch, TrainingWatch& training)
{
    const Schedule& schedule = plan.request.schedule;
    const bool speaks = base::job_rank().rank == 0;
    const pid_t parent = ::getppid();
    const std::int64_t tick = speaks && ::isatty(STDERR_FILENO) == 1 ? tick_on_terminal_ns : tick_ns;
    base::Progress progress{"noisegen"};
    Status status{schedule};
    std::string reason;
    while (reason.empty()) {
        for (const auto& [level, share] : team.newly_short())
            base::warn(text(schedule.levels[level]), " does not reach its ",
                       asked_for(schedule.levels[level].intensity), ": ", std::round(share * 100.0), "% of it");
        const base::Nanoseconds at{std::max<std::int64_t>(0, base::now_ns() - start_ns)};
        const Slot& slot = slot_at(plan.table, at);
        status.look(slot, team.bytes());
        if (speaks && progress.due())
            progress.show(base::seconds(at) / base::seconds(plan.request.duration), status.text(slot, team.bytes()));
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
    return reason;
}

}  // namespace noisegen
