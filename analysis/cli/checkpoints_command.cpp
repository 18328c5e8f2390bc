// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/checkpoints_command.hpp"

#include "analysis/checkpoints/write.hpp"
#include "analysis/input/confined.hpp"
#include "base/cli/option_checks.hpp"
#include "base/contract/run_record.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>

namespace analysis {

namespace {

CheckpointQuestion question_of(const std::string& mtbf, const std::string& restart, const std::string& budget)
{
    CheckpointQuestion question;
    if (mtbf.empty()) base::fail_usage("checkpoints needs --mtbf, the mean time between failures, such as 24h");
    question.mtbf_s = base::seconds(base::parsed<base::Nanoseconds>("--mtbf", mtbf));
    if (question.mtbf_s <= 0.0) base::fail_usage("--mtbf: must be more than 0, not ", mtbf);
    if (!restart.empty()) question.restart_s = base::seconds(base::parsed<base::Nanoseconds>("--restart", restart));
    if (question.restart_s.value_or(0.0) < 0.0) base::fail_usage("--restart: must not be negative");
    if (!budget.empty()) question.budget_percent = base::parsed<base::Percent>("--budget", budget).value;
    if (const double percent = question.budget_percent.value_or(1.0); percent <= 0.0 || percent >= 100.0)
        base::fail_usage("--budget must be more than 0% and less than 100%");
    return question;
}

// Prints one line for each table that is cut off. Returns false if there is one.
bool are_whole(const CheckpointReport& report)
{
    bool whole = true;
    for (const CheckpointRun& run : report.runs) {
        if (run.cut_off.empty()) continue;
        base::warn(run.cut_off);
        whole = false;
    }
    return whole;
}

void show(const CheckpointReport& report, const std::string& format, const std::string& out)
{
    if (format == "md")
        print_markdown(std::cout, report);
    else if (format == "json")
        std::cout << base::json_text(json_of(report)) << "\n";
    else {
        base::print_lines(std::cout, [&](std::ostream& text) { print(text, report); });
        if (!out.empty())
            std::cout << "\npage: " << base::printable((std::filesystem::path{out} / "index.html").string()) << "\n";
    }
    base::flush_stdout();
}

}  // namespace

CheckpointsCommand::CheckpointsCommand()
    : Command{"interference checkpoints", "reports what checkpoints cost a training, and how often to write them"}
{
    options.add_positional("DIR", directories_, "run directories with train/checkpoints.csv; settings are pooled");
    options.add("mtbf", mtbf_, "mean time between failures of the job, such as 24h", "TIME");
    options.add(
        "restart", restart_,
        "time from a failure until the training continues from a checkpoint (default: that of the runs' own restarts, "
        "else its bytes at the speed of writing)",
        "TIME");
    options.add("budget", budget_, "acceptable share of time for checkpoints alone, such as 1%", "PERCENT");
    options.add("clock-offset", clock_offset_,
                "training's clock - noise's clock, such as 1.5s or -20ms, if they have different clocks", "TIME");
    options.add("out", out_, "directory for tables, plot and page; must not exist", "DIR");
    options.add_choice("format", format_, {"text", "md", "json"},
                       "output format: tables for a terminal, Markdown, or JSON");
    options.example("interference checkpoints run1 --mtbf 24h");
    options.example("interference checkpoints sync async --mtbf 6h --restart 5min --out checkpoints");
    options.epilogue(
        "Exit codes: 0 fine, 1 failed, or no run has a checkpoint, 2 wrong usage, 3 a table is cut off: its complete "
        "rows count.");
}

int CheckpointsCommand::run()
{
    const CheckpointQuestion question = question_of(mtbf_, restart_, budget_);
    std::optional<std::int64_t> clock_offset_ns;
    if (!clock_offset_.empty()) clock_offset_ns = base::parsed_difference_ns("--clock-offset", clock_offset_);
    if (!out_.empty()) base::refuse_taken(out_);
    const std::vector<CheckpointFiles> files = checkpoint_files(directories_);
    std::vector<std::filesystem::path> read;
    for (const CheckpointFiles& run : files) {
        read.push_back(run.train);
        read.insert(read.end(), run.noise.begin(), run.noise.end());
    }
    return otf2::confined("interference", limits_for(read), [&] {
        std::vector<CheckpointRun> runs;
        for (const CheckpointFiles& run : files) runs.push_back(read_checkpoint_run(run, clock_offset_ns));
        otf2::reading_is_over();
        const CheckpointReport report = checkpoint_report(std::move(runs), question);
        if (!out_.empty()) write_checkpoints(out_, report, base::run_record("interference"));
        show(report, format_, out_);
        return are_whole(report) ? base::exit_fine : base::exit_promise_not_kept;
    });
}

}  // namespace analysis
