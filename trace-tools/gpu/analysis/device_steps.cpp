// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/gpu/analysis/device_steps.hpp"

#include <algorithm>
#include <cmath>

namespace gpu {

namespace {

// Nearest-rank quantile: the smallest value such that at least `share` of the values are not greater.
std::int64_t quantile(const std::vector<std::int64_t>& sorted, double share)
{
    if (sorted.empty()) return 0;
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

void DeviceSteps::close()
{
    explain(Next::none, nullptr);
    std::sort(delays_.begin(), delays_.end());
    sums_.step = windows_[window_].step;
    sums_.wall = windows_[window_].end_ns - windows_[window_].begin_ns;
    sums_.launched = static_cast<std::int64_t>(delays_.size());
    sums_.launch_delay_p50 = quantile(delays_, 0.5);
    sums_.launch_delay_p95 = quantile(delays_, 0.95);
    sums_.launch_delay_most = quantile(delays_, 1.0);
    sink_(sums_);
    ++window_;
    sums_ = blank_;
    delays_.clear();
}

void DeviceSteps::advance(std::int64_t now_ns)
{
    while (window_ < windows_.size()) {
        const Window window = windows_[window_];
        now_ns_ = std::max(now_ns_, std::min(now_ns, window.begin_ns));
        if (now_ns <= window.begin_ns && now_ns < window.end_ns) break;
        spend(std::min(now_ns, window.end_ns));
        if (now_ns < window.end_ns) break;
        close();
    }
    now_ns_ = std::max(now_ns_, now_ns);
}

void DeviceSteps::spend(std::int64_t until_ns)
{
    const std::int64_t ns = until_ns - now_ns_;
    if (ns <= 0) return;
    if (computing_ > 0) sums_.busy += ns;
    if (exchanging_ > 0) sums_.exchange += ns;
    if (copying_ > 0) sums_.copy += ns;
    if (exchanging_ > 0 && computing_ > 0) sums_.exchange_overlapped += ns;
    if (copying_ > 0 && computing_ > 0) sums_.copy_overlapped += ns;
    if (copying_ > 0 && exchanging_ > 0) sums_.copy_in_exchange += ns;
    if (delayed_) sums_.host_delay += ns;
    if (delayed_ && computing_ > 0) sums_.host_delay_covered += ns;
    if (computing_ == 0) {
        const bool exchange = exchanging_ > 0;
        const bool copy = copying_ > 0;
        if (!idle_.empty() && idle_.back().end_ns == now_ns_ && idle_.back().exchange == exchange &&
            idle_.back().copy == copy)
            idle_.back().end_ns = until_ns;
        else
            idle_.push_back({now_ns_, until_ns, exchange, copy});
    }
    now_ns_ = until_ns;
}

void DeviceSteps::begin(StreamWork work, std::int64_t now_ns, const Launch* launch)
{
    advance(now_ns);
    const bool in_step = window_ < windows_.size() && now_ns_ >= windows_[window_].begin_ns;
    if (work != StreamWork::copy && in_step) {
        ++sums_.kernels;
        if (launch != nullptr)
            delays_.push_back(launch->end_ns == INT64_MAX ? 0 : std::max<std::int64_t>(0, now_ns - launch->end_ns));
    }
    if (work == StreamWork::compute && computing_++ == 0)
        explain(launch == nullptr ? Next::unknown : Next::known, launch);
    if (work == StreamWork::exchange) ++exchanging_;
    if (work == StreamWork::copy) ++copying_;
}

void DeviceSteps::end(StreamWork work, std::int64_t now_ns)
{
    advance(now_ns);
    std::size_t& running = work == StreamWork::compute    ? computing_
                           : work == StreamWork::exchange ? exchanging_
                                                          : copying_;
    if (running > 0) --running;
}

void DeviceSteps::delay(bool goes_on, std::int64_t now_ns)
{
    advance(now_ns);
    delayed_ = goes_on;
}

void DeviceSteps::explain(Next next, const Launch* launch)
{
    for (const Idle& idle : idle_) explain(idle, next, launch);
    idle_.clear();
}

// Divides the idle time into pieces in which neither the host's states nor the state of the launch change.
void DeviceSteps::explain(const Idle& idle, Next next, const Launch* launch)
{
    std::vector<std::int64_t> cuts{idle.begin_ns, idle.end_ns};
    const auto cut = [&](std::int64_t ns) {
        if (idle.begin_ns < ns && ns < idle.end_ns) cuts.push_back(ns);
    };
    if (launch != nullptr) cut(launch->end_ns);
    for (const HostSpan& span : host_.all()) {
        cut(span.begin_ns);
        cut(span.end_ns);
    }
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t i = 1; i < cuts.size(); ++i)
        if (cuts[i] > cuts[i - 1])
            sums_.idle[static_cast<std::size_t>(cause(idle, cuts[i - 1], next, launch))] += cuts[i] - cuts[i - 1];
}

IdleCause DeviceSteps::cause(const Idle& idle, std::int64_t at_ns, Next next, const Launch* launch) const
{
    if (idle.exchange) return IdleCause::exchange;
    const bool launched = next == Next::known && launch->end_ns <= at_ns;
    if (!launched && next != Next::unknown && host_.any(HostState::exchange, at_ns)) return IdleCause::exchange;
    if (next == Next::none) return IdleCause::nothing;
    if (next == Next::unknown) return idle.copy ? IdleCause::copy : IdleCause::unknown;
    if (launched) return idle.copy ? IdleCause::copy : IdleCause::queued;
    if (host_.any(HostState::input, at_ns)) return IdleCause::input;
    if (host_.at(HostState::synchronises, launch->location, at_ns)) return IdleCause::host_wait;
    return IdleCause::launch;
}

}  // namespace gpu
