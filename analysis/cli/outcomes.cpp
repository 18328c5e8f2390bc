// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/outcomes.hpp"

#include "analysis/outcomes/tables.hpp"
#include "base/cli/option_checks.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <utility>

namespace analysis {

namespace fs = std::filesystem;

namespace {

// The directories DIR/seed-1, DIR/seed-2, .. next to those of the trials.
std::vector<fs::path> seeds_in(const std::vector<std::string>& directories)
{
    std::vector<fs::path> seeds;
    for (const std::string& directory : directories)
        for (const auto& entry : fs::directory_iterator{directory})
            if (entry.is_directory() && entry.path().filename().string().starts_with("seed-"))
                seeds.push_back(entry.path());
    std::sort(seeds.begin(), seeds.end());
    return seeds;
}

}  // namespace

Outcomes::Outcomes()
    : Command{"interference outcomes", "reports outcomes of soft-error trials: classes with intervals, maps, guards"}
{
    options.add_positional("DIR", directories_, "run directories of ddl-train --trials, one per strategy");
    options.add("band", bands_,
                "an undisturbed training of another seed, as long as the trials; at least eight (default: DIR/seed-*)",
                "DIR");
    options.add("out", out_, "the report's directory instead of DIR/report; must not exist", "DIR");
    options.add_choice("interval", interval_, {"wilson", "clopper-pearson"}, "method of intervals of shares");
    options.add("fit", fit_, "memory failures per 1e9 hours and 2^20 bits; adds the runs ruined in 1,000 node hours",
                "RATE");
    options.add("run-hours", run_hours_, "with --fit: time lost by a ruined run", "HOURS");
    options.example("interference outcomes trials --band seeds/1 --band seeds/2 .. --out report");
    options.epilogue(
        "Classes: crashed; collapsed (loss not finite, or no better than guessing); degraded (below the band of "
        "other seeds); recovered; latent (in the band, but a value that is not finite or 1,000 times the largest "
        "remains); tolerated; masked (identical bits). Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 not "
        "trustworthy.");
}

int Outcomes::run()
{
    std::optional<ErrorRate> fit;
    if (!fit_.empty()) {
        fit = ErrorRate{base::parsed<double>("--fit", fit_), base::parsed<double>("--run-hours", run_hours_)};
        if (!(fit->per_mbit > 0.0)) base::fail_usage("--fit must be more than 0, not ", fit_);
        if (!(fit->run_hours > 0.0)) base::fail_usage("--run-hours must be more than 0, not ", run_hours_);
    }
    for (const std::string& directory : directories_)
        if (!fs::is_directory(directory)) base::fail("there is no directory ", directory);
    if (out_.empty() && directories_.size() > 1)
        base::fail_usage("outcomes of several runs needs --out (interference outcomes --help)");
    const fs::path out = out_.empty() ? fs::path{directories_.front()} / base::part::report : fs::path{out_};
    if (fs::exists(out)) base::fail_taken(out);
    std::vector<fs::path> seeds{bands_.begin(), bands_.end()};
    if (seeds.empty()) seeds = seeds_in(directories_);
    if (seeds.empty())
        base::fail_usage("needs --band DIR: undisturbed trainings of ", least_seeds, " other seeds or more");
    std::vector<TrialRun> runs;
    for (const std::string& directory : directories_) runs.push_back(read_trial_run(directory));
    const OutcomeReport report =
        outcome_report(std::move(runs), read_bands(seeds),
                       interval_ == "wilson" ? ProportionInterval::wilson : ProportionInterval::clopper_pearson, fit);
    write_outcomes(out, report);
    base::print_lines(std::cout, [&](std::ostream& text) { print_outcomes(text, report); });
    std::cout << "report: " << base::printable((out / "index.html").string()) << "\n";
    base::flush_stdout();
    return report.not_trustworthy.empty() ? base::exit_fine : base::exit_promise_not_kept;
}

}  // namespace analysis
