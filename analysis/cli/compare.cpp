// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/compare.hpp"

#include "analysis/cli/run_files.hpp"
#include "analysis/estimate/sets/comparable.hpp"
#include "analysis/input/confined.hpp"
#include "analysis/report/writers/comparison_report.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace analysis {

namespace fs = std::filesystem;

namespace {

// Reads the runs of a set. The first archive without numbered steps determines the region that is a step in the others.
std::vector<RunSteps> read_set(const std::vector<std::string>& names, const otf2::StepChoice& choice,
                               otf2::StepChoice& found)
{
    std::vector<RunSteps> runs;
    for (const std::string& name : names) {
        runs.push_back(read_run_steps(name, choice, found));
        if (!found.given()) found = runs.back().choice;
    }
    return runs;
}

// A sentence on the run with the fewest steps, which limits how many are compared. Empty if it has more than half of
// the steps of the others.
std::string said_of_shortest(const std::vector<RunSteps>& quiet, const std::vector<RunSteps>& noisy)
{
    const RunSteps* shortest = &quiet.front();
    std::size_t most = 0;
    for (const std::vector<RunSteps>* set : {&quiet, &noisy})
        for (const RunSteps& run : *set) {
            most = std::max(most, run.numbers.size());
            if (run.numbers.size() < shortest->numbers.size()) shortest = &run;
        }
    if (2 * shortest->numbers.size() > most) return "";
    return base::join(shortest->name, " has ", shortest->numbers.size(), " steps, others up to ", most,
                      ": only steps that all have are compared");
}

}  // namespace

Compare::Compare() : Command{"interference compare", "compares sets of quiet and noisy runs; the run is the unit"}
{
    options.add("quiet", quiet_, "runs without noise: run directories, archives or steps.csv", "RUN...");
    options.add("noisy", noisy_, "runs with noise", "RUN...");
    options.add("out", out_, "the report's directory; must not exist", "DIR");
    options.add_switch("unfinished", unfinished_, "accept runs that did not complete");
    add_step_choice(options, settings_);
    add_common(options, settings_);
    add_format(options, settings_);
    options.example("interference compare --quiet q1 q2 q3 --noisy n1 n2 n3 --out comparison");
    options.epilogue(
        "At least two runs per side, better five: the run is the unit, so more steps per run do not narrow the "
        "interval. Runs must differ only in the noise. Exit codes: 0 fine, 1 failed, 2 wrong usage, including runs "
        "that cannot be compared.");
}

int Compare::run()
{
    if (out_.empty()) base::fail_usage("compare needs --out (interference compare --help)");
    check(settings_);
    if (settings_.warm_up_time.count() > 0 || settings_.warm_up_until_noise)
        base::fail_usage("--warmup of compare must be a number of steps");
    if (fs::exists(out_)) base::fail_taken(out_);
    std::vector<fs::path> files;
    for (const auto* set : {&quiet_, &noisy_})
        for (const std::string& run : *set) files.push_back(steps_file(run));
    return otf2::confined("interference", limits_for(files), [this] { return report(); });
}

int Compare::report() const
{
    otf2::StepChoice found;
    std::vector<RunSteps> quiet = read_set(quiet_, settings_.steps, found);
    std::vector<RunSteps> noisy = read_set(noisy_, settings_.steps, found);
    otf2::reading_is_over();
    check_comparable(quiet, noisy, unfinished_);
    const std::string shortest = said_of_shortest(quiet, noisy);
    if (!shortest.empty()) base::warn(shortest);
    ComparisonReport report{.comparison = analysis::compare(std::move(quiet), std::move(noisy), settings_.warm_up,
                                                            settings_.confidence.fraction()),
                            .budget_percent = settings_.budget.value,
                            .own_record = base::run_record("interference")};
    if (!shortest.empty()) report.notes.push_back(shortest);
    for (auto [names, runs] : {std::pair{&quiet_, &report.quiet}, {&noisy_, &report.noisy}})
        for (const std::string& name : *names)
            runs->push_back({name, record_beside(steps_file(name), "training", base::file::run_record, report.notes)});
    write_comparison(out_, report);
    if (settings_.format == "md")
        write_markdown(std::cout, report);
    else if (settings_.format == "json")
        std::cout << base::json_text(tidy_json(report)) << "\n";
    else if (settings_.format == "html")
        std::cout << base::read_whole(fs::path{out_} / "index.html");
    else
        base::print_lines(std::cout, [&](std::ostream& text) {
            print(text, report);
            text << "\nreport: " << base::printable((fs::path{out_} / "index.html").string()) << "\n";
        });
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace analysis
