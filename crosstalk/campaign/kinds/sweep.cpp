// SPDX-License-Identifier: Apache-2.0
// Searches for hyper-parameters: trials of a command, on cores that no training holds.
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "crosstalk/campaign/kinds/kind.hpp"
#include "crosstalk/campaign/progress.hpp"
#include "crosstalk/campaign/sweep/sweep_run.hpp"
#include "crosstalk/campaign/sweep/sweep_spec.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

void plan_sweep(const PlanOptions& options)
{
    const SweepSpec spec = read_sweep_spec(options.spec);
    if (!options.dry_run) make_sweep(text_of_spec(options), options.out);
    base::print_lines(std::cout, [&](std::ostream& out) {
        out << spec.trials << " trials, sampler " << spec.sampler << ", pruner " << spec.pruner << ": " << spec.command
            << "\n";
    });
}

int run_planned_sweep(const fs::path& directory, const CampaignRunOptions& options)
{
    for (const std::string& name : options.given) base::fail_usage("--", name, " is not supported for sweeps");
    return run_sweep(directory, {});
}

int show_sweep_status(const fs::path& directory, std::optional<int> retries, bool as_json)
{
    if (retries) base::fail_usage("--retries is not supported for sweeps");
    const SweepStanding now = sweep_standing(directory);
    if (!as_json) {
        std::cout << now.ended << " of " << now.trials << " trials have ended, " << now.failed << " failed, "
                  << now.running << " running\n"
                  << being_run(now.is_being_run) << "\n";
        return base::exit_fine;
    }
    const nlohmann::ordered_json json{
        {"format", base::format_version}, {"trials", now.trials},   {"done", now.ended},
        {"failed", now.failed},           {"running", now.running}, {"is_being_run", now.is_being_run}};
    std::cout << base::json_text(json, base::one_line) << "\n";
    return base::exit_fine;
}

int stop_sweep(const fs::path& directory)
{
    base::fail_usage(directory.string(), " has a sweep: stop it by interrupting crosstalk sweep (Ctrl-C)");
}

}  // namespace

extern const CampaignKind sweep_campaign{.name = "sweep",
                                         .keys = sweep_spec_section,
                                         .plan = plan_sweep,
                                         .run = run_planned_sweep,
                                         .status = show_sweep_status,
                                         .stop = stop_sweep,
                                         .collect = collect_sweep};

}  // namespace crosstalk
