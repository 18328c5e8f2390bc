// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/diff_command.hpp"

#include "analysis/report/diff/diff.hpp"
#include "base/contract/run_record.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>

namespace analysis {

DiffCommand::DiffCommand()
    : Command{"interference diff",
              "compares two reports of one design: what each noise costs more or less after a change"}
{
    options.add_positional("DIR", sides_, "directories with a report on a run or on a set of runs, or the reports", 2,
                           2);
    options.synopsis("[options] BEFORE AFTER");
    options.add("out", out_, "directory for tables; must not exist (default: no tables)", "DIR");
    options.add_choice("format", format_, {"text", "md", "json"},
                       "what is printed: lines for a terminal, Markdown for CI and wikis, or rows as JSON");
    options.add_choice("fail-on", fail_on_, {change_word::worse},
                       "worse: exit code 1 if a noise costs more after the change");
    options.example("interference diff run-before run-after --fail-on worse");
    options.epilogue(
        "Differences are of the reports' own estimates. Exit codes: 0 fine, 1 failed, or --fail-on is met, 2 wrong "
        "usage, which includes reports that cannot be compared or trusted.");
    options.see_also("crosstalk-diff(1)");
}

int DiffCommand::run()
{
    if (!out_.empty() && std::filesystem::exists(out_)) base::fail_taken(out_);
    const Diff diff = diff_of(read_side(sides_.front(), "before"), read_side(sides_.back(), "after"));
    if (!out_.empty()) write_diff(out_, diff, base::run_record("interference"));
    if (format_ == "md")
        print_markdown(std::cout, diff);
    else if (format_ == "json")
        std::cout << base::json_text(json_of(diff)) << "\n";
    else {
        base::print_lines(std::cout, [&](std::ostream& text) { print(text, diff); });
        if (!out_.empty())
            std::cout << "\ntable: " << base::printable((std::filesystem::path{out_} / "diff.csv").string()) << "\n";
    }
    base::flush_stdout();
    if (fail_on_.empty()) return base::exit_fine;
    for (const NoiseDiff& noise : diff.noises)
        if (change_of(noise) == change_word::worse) {
            base::warn(noise.noise, " is worse (--fail-on ", fail_on_, ")");
            return base::exit_failed;
        }
    return base::exit_fine;
}

}  // namespace analysis
