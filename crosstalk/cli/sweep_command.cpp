// SPDX-License-Identifier: Apache-2.0
#include "base/contract/campaign_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "crosstalk/campaign/kinds/kind.hpp"
#include "crosstalk/campaign/sweep/sweep_run.hpp"
#include "crosstalk/campaign/sweep/sweep_spec.hpp"
#include "crosstalk/cli/commands.hpp"

#include <filesystem>

namespace crosstalk {

SweepCommand::SweepCommand() : Command{"crosstalk sweep", "searches hyper-parameters on cores that no training holds"}
{
    options.add_positional("SPEC.ini", spec_, "the command of a trial, and its parameters");
    options.add("out,o", out_, "the sweep's directory; an existing one of the same spec is continued", "DIR");
    options.add("cpus", cpus_, "CPUs of the workers (default: cores that no training on this machine holds)", "LIST");
    options.section(sweep_spec_section());
    options.example("crosstalk sweep sweep.ini -o DIR");
    options.epilogue(
        "The same command continues after any interruption, and repeats trials that were lost; crosstalk campaign "
        "status DIR shows progress. Exit codes: 0 every trial has a result, 1 failed (a full disk, a training that begins "
        "on the CPUs), 2 wrong usage, or a training holds the CPUs, 3 a trial failed, 77 Optuna is missing.");
}

int SweepCommand::run()
{
    namespace fs = std::filesystem;
    if (out_.empty()) base::fail_usage("needs --out DIR (crosstalk sweep --help)");
    const PlanOptions plan{.spec = spec_, .seed = {}, .out = out_, .dry_run = false};
    const std::string text = text_of_spec(plan);
    const CampaignKind& kind = kind_of_spec(plan.spec);
    if (kind.name != std::string{"sweep"}) base::fail_usage(spec_, " is of kind ", kind.name, ", not sweep");
    const fs::path begun = plan.out / base::campaign::spec;
    if (!fs::exists(plan.out)) {
        read_sweep_spec(plan.spec);  // throws with the name of this file
        try {
            make_sweep(text, plan.out);
        } catch (const base::UsageError&) {  // another task of a job array was faster
            if (!fs::exists(begun)) throw;
        }
    }
    base::refuse_foreign(plan.out);
    if (!fs::exists(begun) || base::read_whole(begun) != text)
        base::fail_usage(
            out_, " holds a sweep of a different spec: give another --out, or the spec with which that sweep began");
    base::refuse_foreign(begun);
    run_sweep(plan.out, cpus_.empty() ? base::CpuSet{} : base::parse_cpus(cpus_));
    return collect_sweep(plan.out);
}

}  // namespace crosstalk
