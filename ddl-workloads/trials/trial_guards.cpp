// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/trials/trial_guards.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <span>

namespace ddl {

GuardPlan parse_trial_guard(const std::string& text)
{
    GuardPlan plan;
    if (text.empty() || text == "none") return plan;
    const std::size_t colon = text.find(':');
    std::string guards = text.substr(0, colon);
    std::replace(guards.begin(), guards.end(), '+', ',');
    parse_guards(guards, plan);
    parse_reaction(colon == std::string::npos ? "report" : text.substr(colon + 1), plan);
    if (plan.reaction == Reaction::stop) base::fail_usage("guard ", text, ": stop is not for trials; use report");
    return plan;
}

TrialGuards::TrialGuards(const GuardPlan& plan, const Guarded& guarded, std::int64_t steps_done)
    : guards_{plan, guarded},
      exchanges_{guarded.exchanges},
      on_{!plan.guards.empty()},
      compares_{plan.replicas_every > 0},
      begin_{steps_done}
{
    guards_.after_update();
    guards_.before_forward(static_cast<std::uint64_t>(steps_done), steps_done);  // also copies the state for rollbacks
}

std::optional<std::int64_t> TrialGuards::before_forward(std::int64_t steps_done)
{
    if (!on_) return std::nullopt;
    const bool back = guards_.before_forward(static_cast<std::uint64_t>(steps_done), steps_done);
    if (compares_) {
        const ReplicaNews mine = guards_.news();
        std::vector<ReplicaNews> all(static_cast<std::size_t>(exchanges_.size()));
        exchanges_.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(std::span{all})).get();
        guards_.receive(all);
    }
    note(steps_done);
    if (!back) return std::nullopt;
    return guards_.went_back_to();
}

void TrialGuards::before_update(std::int64_t steps_done)
{
    if (!on_) return;
    guards_.before_update(static_cast<std::uint64_t>(steps_done));
    note(steps_done);
}

void TrialGuards::after_update()
{
    if (on_) guards_.after_update();
}

void TrialGuards::note(std::int64_t steps_done)
{
    if (!caught_ && guards_.has_found()) caught_ = steps_done - begin_;
}

}  // namespace ddl
