// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/outcome.hpp"

#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/system/local_rank.hpp"

#include <cmath>

namespace noisegen {

namespace {

constexpr std::int64_t long_enough_ns = 1'000'000'000;  // time on after which some work is expected

// Did the stressor move no bytes, for example because the other host accepts no messages?
bool did_nothing(const Configured& stressor, const LevelTotal& total)
{
    return stressor.card->counts_bytes && total.on_ns > long_enough_ns && total.work.bytes == 0;
}

// Did no training answer the requests, or was there no process to pause? A step that reads the request, or a pause,
// counts as an operation.
bool asked_nobody(const Configured& stressor, const LevelTotal& total)
{
    return base::is_control(stressor.card->role) && total.on_ns > long_enough_ns && total.work.operations == 0 &&
           base::local_rank().rank == 0;
}

}  // namespace

int judge(const Schedule& schedule, const Team& team)
{
    const std::vector<LevelTotal> totals = team.totals();
    int code = team.moved().empty() ? base::exit_fine : base::exit_promise_not_kept;
    for (const std::string& what : team.not_kept()) {
        if (what.empty()) continue;
        base::warn(what);
        code = base::exit_promise_not_kept;
    }
    for (std::size_t i = 0; i < totals.size(); ++i) {
        const FactorLevel& level = schedule.levels[i];
        const double share = reached(level.intensity, totals[i]);
        if (totals[i].slots == 0) continue;
        if (asked_nobody(schedule.stressors[level.stressor], totals[i]))
            base::warn(text(level) + " was on, but no training reacted: the control was not connected");
        else if (!level.intensity.follow.empty() && totals[i].busy_ns == 0)
            base::warn(text(level), " follows ", format_follow(level.intensity.follow),
                       ", but no training on this node entered that phase (--control names the training's run)");
        else if (did_nothing(schedule.stressors[level.stressor], totals[i]))
            base::warn(text(level), " was on, but did nothing");
        else if (share < rate_kept || share > rate_exceeded)
            base::warn(level.intensity.rate ? "rate " : "duty ",
                       share < rate_kept ? "not reached: " : "exceeded: ", text(level), " had ",
                       std::round(share * 100.0), "% of ",
                       level.intensity.rate
                           ? asked_text({std::round(totals[i].requested_per_s), level.intensity.rate->of})
                           : base::format(level.intensity.duty));
        else
            continue;
        code = base::exit_promise_not_kept;
    }
    return code;
}

std::string asked_text(const base::Rate& rate)
{
    constexpr std::size_t short_enough = 9;  // "512.5MB/s"; a share of a limit may be a long number
    std::string given = base::format(rate);
    if (rate.of != base::Rate::Of::bytes) return given;
    if (given.find("iB") != std::string::npos) return given + " = " + base::speed_text(rate.per_second);
    return given.size() > short_enough ? base::speed_text(rate.per_second) : given;
}

void print(std::ostream& out, const Schedule& schedule, const std::vector<LevelTotal>& totals)
{
    for (std::size_t i = 0; i < totals.size(); ++i) {
        const FactorLevel& level = schedule.levels[i];
        const LevelTotal& total = totals[i];
        out << text(level) << ": " << total.slots << (total.slots == 1 ? " slot" : " slots");
        if (total.work.bytes > 0) out << ", " << base::speed_text(total.bytes_per_s());
        if (const double per_s = total.operations_per_s(); total.work.operations > 0)
            out << ", " << base::format(per_s < 10.0 ? std::round(per_s * 100.0) / 100.0 : std::round(per_s))
                << " operations/s";
        if (level.intensity.rate) out << " (requested " << asked_text(*level.intensity.rate) << ")";
        if (level.intensity.duty.value < 100.0)
            out << ", on " << base::format(base::Percent{std::round(total.duty() * 1e4) / 100.0})
                << " of the time (requested " << base::format(level.intensity.duty) << ")";
        if (!level.intensity.follow.empty())
            out << ", on " << base::format(base::Percent{std::round(total.duty() * 1e4) / 100.0}) << " of the time (in "
                << format_follow(level.intensity.follow) << ")";
        out << "\n";
    }
}

}  // namespace noisegen
