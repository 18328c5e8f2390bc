// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/summary_command.hpp"

#include "analysis/cli/settings.hpp"
#include "analysis/report/summary/summary.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/run_record.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>

namespace analysis {

namespace {

// The first of the newest runs that meets the condition, and how: "runs/7: mem is unsafe".
std::string failure_of_newest(const Summary& summary, const std::string& fail_on)
{
    for (const std::size_t index : newest_runs(summary)) {
        const RunSummary& run = summary.runs[index];
        std::vector<JudgedNoise> noises;
        for (const NoiseInRun& noise : run.noises)
            if (!noise.tried) noises.push_back({base::factor_name(noise.factor, noise.level), noise.verdict});
        if (const std::string met = failure(run.trustworthy, noises, fail_on); !met.empty())
            return base::join(run.directory.string(), ": ", met);
    }
    return "";
}

}  // namespace

SummaryCommand::SummaryCommand()
    : Command{"interference summary", "summarises reports of many runs: one row per run, and trends of the effects"}
{
    options.add_positional("DIR", directories_, "run directories with reports, or report directories");
    options.add("out", out_, "directory for tables, plot and page; must not exist", "DIR");
    options.add_choice("format", format_, {"text", "md", "json"},
                       "output format: a table for a terminal, Markdown, or JSON");
    options.add("openmetrics", openmetrics_,
                "verdict, effect, bounds and trust of the newest run of each training with the same noises and "
                "hosts, for Prometheus' node exporter; replaces the file",
                "FILE");
    options.add("fail-on", fail_on_,
                "exit code 1 if the newest run of a training with the same noises and hosts is any of: unsafe, "
                "undecided, insensitive, untrusted",
                "LIST");
    options.epilogue(
        "Directories without a report are listed and skipped. Exit codes: 0 fine, 1 failed, or --fail-on is met, 2 "
        "wrong usage.");
    options.example("interference summary runs/* --out summary");
    options.example("interference summary runs/* --openmetrics crosstalk.prom --fail-on unsafe,untrusted");
}

int SummaryCommand::run()
{
    check_fail_on(fail_on_);
    if (!out_.empty() && std::filesystem::exists(out_)) base::fail_taken(out_);
    const Summary summary = summary_of(directories_);
    if (!out_.empty()) write_summary(out_, summary, base::run_record("interference"));
    if (!openmetrics_.empty()) base::write_whole(openmetrics_, base::openmetrics(metrics_of(summary)));
    if (format_ == "md")
        print_markdown(std::cout, summary);
    else if (format_ == "json")
        std::cout << base::json_text(json_of(summary)) << "\n";
    else {
        base::print_lines(std::cout, [&](std::ostream& text) { print(text, summary); });
        if (!out_.empty())
            std::cout << "\nsummary: " << base::printable((std::filesystem::path{out_} / "index.html").string())
                      << "\n";
    }
    base::flush_stdout();
    const std::string met = failure_of_newest(summary, fail_on_);
    if (met.empty()) return base::exit_fine;
    base::warn(met, " (--fail-on ", fail_on_, ")");
    return base::exit_failed;
}

}  // namespace analysis
