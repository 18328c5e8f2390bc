// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/trials/trial_checks.hpp"

#include "base/contract/stored_state.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "ddl-workloads/alteration/stored_weights.hpp"
#include "ddl-workloads/guards/guard_options.hpp"
#include "ddl-workloads/trials/drawn_alteration.hpp"

#include <set>
#include <tuple>

namespace ddl {

namespace {

void check_guard(const GuardPlan& guards, const TrialTraining& training)
{
    if (!guards.compares_ranks()) return;
    if (!training.equal) base::fail_usage("guard replicas: with this strategy every rank has its own state");
    if (training.ranks == 1) base::fail_usage("guard replicas: there is only one rank");
}

void check_trial(const base::Trial& trial, const TrialTraining& training)
{
    if (trial.step < training.first_step)
        base::fail_usage("alters step ", trial.step, ", but the training begins at ", training.first_step);
    check_guard(parse_trial_guard(trial.guard), training);
    if (trial.rank != "all" && base::parse<int>(trial.rank) >= training.ranks)
        base::fail_usage("alters rank ", trial.rank, " of ", training.ranks);
    if (trial.kind == base::trial_kind::stored)
        static_cast<void>(StoredWeights{training.model,
                                        soft_errors::weight_memory(trial.store, trial.detect, trial.rate),
                                        trial.location, trial.seed, 0});
    if (!alters(trial, training.rank)) return;
    if (trial.kind == base::trial_kind::trial) check_alteration(training.model, trial);
    if (trial.kind == base::trial_kind::positive) check_positive(training.model);
}

}  // namespace

void check_trials(const std::vector<base::Trial>& trials, const TrialTraining& training)
{
    using Words = std::tuple<std::string, std::int64_t, std::string, std::string, std::int64_t, std::string,
                             std::string, std::string, std::string, std::string, double>;
    std::set<Words> checked;
    for (const base::Trial& one : trials) {
        const Words words{one.kind, one.step,  one.location, one.bits,   one.count, one.target,
                          one.rank, one.guard, one.store,    one.detect, one.rate};
        if (!checked.insert(words).second) continue;
        try {
            check_trial(one, training);
        } catch (const base::Error& error) {
            base::fail_usage("--trials: trial ", one.name, ": ", error.what());
        }
    }
}

}  // namespace ddl
