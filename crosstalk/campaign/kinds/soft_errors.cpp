// SPDX-License-Identifier: Apache-2.0
// Campaigns of soft-error trials in trainings.
#include "base/error.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/kinds/kind.hpp"
#include "crosstalk/campaign/trials/trial_names.hpp"
#include "crosstalk/campaign/trials/trial_plan.hpp"
#include "crosstalk/campaign/trials/trial_runs.hpp"
#include "crosstalk/programs/programs.hpp"

#include <iostream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

void plan_trials(const PlanOptions& options)
{
    TrialSpec spec = read_trial_spec(options.spec);
    spec.seed = options.seed.value_or(spec.seed);
    const std::vector<base::Trial> trials = make_trials(spec);
    if (fs::exists(path_of_program("ddl-train")))
        if (const std::string why = unknown_name_in(spec); !why.empty())
            base::warn("these trials cannot run here: ", why);
    if (!options.dry_run) make_trial_directory(options.out, text_of_spec(options), trials);
    base::print_lines(std::cout, [&](std::ostream& out) { print_trials(out, spec, trials); });
}

int run_planned_trials(const fs::path& directory, const CampaignRunOptions& options)
{
    for (const std::string& name : options.given)
        base::fail_usage("--", name, " is not supported for soft-error trials");
    return run_trials(directory);
}

int show_trial_status(const fs::path& directory, std::optional<int> retries, bool as_json)
{
    if (retries) base::fail_usage("--retries is not supported for soft-error trials");
    const TrialStanding standing = trial_standing(directory);
    as_json ? print_json(std::cout, standing) : print(std::cout, standing);
    return base::exit_fine;
}

int stop_trials(const fs::path& directory)
{
    base::fail_usage(directory.string(),
                     " has soft-error trials: stop them by interrupting crosstalk campaign run (Ctrl-C)");
}

}  // namespace

extern const CampaignKind soft_error_campaign{.name = "soft-errors",
                                              .keys = trial_spec_section,
                                              .plan = plan_trials,
                                              .run = run_planned_trials,
                                              .status = show_trial_status,
                                              .stop = stop_trials,
                                              .collect = collect_trials};

}  // namespace crosstalk
