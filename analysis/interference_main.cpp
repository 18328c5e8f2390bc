// SPDX-License-Identifier: Apache-2.0
// interference: measures how noise slows a training, from traces to a verdict on which an operator can act.
#include "analysis/cli/checkpoints_command.hpp"
#include "analysis/cli/compare.hpp"
#include "analysis/cli/designed_report.hpp"
#include "analysis/cli/diff_command.hpp"
#include "analysis/cli/metric_commands.hpp"
#include "analysis/cli/observe.hpp"
#include "analysis/cli/outcomes.hpp"
#include "analysis/cli/predict.hpp"
#include "analysis/cli/printed_report.hpp"
#include "analysis/cli/settings.hpp"
#include "analysis/cli/so_far.hpp"
#include "analysis/cli/summary_command.hpp"
#include "analysis/report/writers/controls_report.hpp"
#include "base/cli/commands.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <iostream>

namespace {

namespace fs = std::filesystem;

class Analyse : public base::Command {
 public:
    Analyse() : Command{"interference analyse", "writes the full report of a run directory into DIR/report"}
    {
        options.add_positional(
            "DIR", directories_,
            "the run's directory, with train/ and noise/; several, or one with run-1/, run-2/: runs of one design, "
            "which are pooled");
        options.add("out", out_, "the report's directory instead of DIR/report; must not exist", "DIR");
        options.add("steps", steps_, "the training's steps, instead of those in DIR/train: see interference exposure",
                    "FILE");
        add_settings(options, settings_);
        options.example("interference analyse run1");
        options.example("interference analyse run1 --step-from MPI_Allreduce");
        options.example("interference analyse run1 run2 run3 --out pooled");
    }

    int run() override
    {
        check(settings_);
        if (out_.empty() && directories_.size() > 1)
            base::fail_usage("analyse of several runs needs --out (interference analyse --help)");
        for (const std::string& directory : directories_) analysis::refuse_campaign(directory);
        const fs::path report = out_.empty() ? fs::path{directories_.front()} / base::part::report : fs::path{out_};
        if (fs::exists(report)) {
            if (!out_.empty()) base::fail_taken(report);
            return show_again(report);
        }
        const analysis::Given given{steps_, options.given("warmup"), options.given("budget")};
        return designed_report(analysis::runs_in(directories_, settings_, given), report, settings_);
    }

 private:
    // Prints an existing report without a second analysis. Options that would change the analysis need another
    // directory.
    int show_again(const fs::path& report)
    {
        const bool prints = options.given("format") || options.given("pdf");
        for (const char* other :
             {"steps", "step-region", "step-from", "step-every", "budget", "warmup", "confidence", "guard", "draws",
              "seed", "clock-offset", "fail-on", "empty-node", "node-hour-cost", "again"})
            if (!prints || options.given(other))
                base::fail_usage(report.string(), " already exists: --format and --pdf print it, --out DIR makes ",
                                 "another one, or move it away");
        analysis::print_again(report, settings_);
        return base::exit_fine;
    }

    analysis::Settings settings_;
    std::vector<std::string> directories_;
    std::string steps_;
    std::string out_;
};

class Exposure : public base::Command {
 public:
    Exposure() : Command{"interference exposure", "analyses one designed run: the slowdown of each step by each noise"}
    {
        options.add("train", train_, "the training's archive, DIR/train/trace/traces.otf2", "FILE");
        options.add(
            "steps", steps_,
            "the training's steps instead of its archive: columns rank, step, begin_ns, end_ns (CLOCK_MONOTONIC of "
            "the node), optionally host and <phase>_ns per phase",
            "FILE");
        options.add(
            "noise", noise_,
            "the noise's archives, DIR/noise/*/trace/traces.otf2; for a log of noise (.csv) see interference observe",
            "FILE...");
        options.add("out", out_, "the report's directory; must not exist", "DIR");
        add_settings(options, settings_);
        options.example(
            "interference exposure --train run1/train/trace/traces.otf2 --noise run1/noise/*/trace/traces.otf2 --out "
            "report");
        options.example("interference exposure --steps steps.csv --noise run1/noise/*/trace/traces.otf2 --out report");
    }

    int run() override
    {
        check(settings_);
        if (train_.empty() == steps_.empty())
            base::fail_usage("exposure needs either --train or --steps (interference exposure --help)");
        if (noise_.empty() || out_.empty())
            base::fail_usage("exposure needs --noise and --out (interference exposure --help)");
        const bool is_log = std::any_of(noise_.begin(), noise_.end(),
                                        [](const std::string& file) { return fs::path{file}.extension() == ".csv"; });
        if (is_log)
            return analysis::observed_report(train_.empty() ? steps_ : train_, {noise_.begin(), noise_.end()}, out_,
                                             settings_);
        const analysis::RunFiles files{.name = "run",
                                       .directory = {},
                                       .train = train_.empty() ? steps_ : train_,
                                       .noise = {noise_.begin(), noise_.end()},
                                       .settings = settings_};
        return designed_report({{files}}, out_, settings_);
    }

 private:
    analysis::Settings settings_;
    std::string train_;
    std::string steps_;
    std::vector<std::string> noise_;
    std::string out_;
};

class SoFar : public base::Command {
 public:
    SoFar()
        : Command{"interference so-far",
                  "prints one line about a running measurement: the slowdown by each noise so far"}
    {
        options.add_positional("DIR", directory_, "the run's directory, with train/ and noise/");
        add_common(options, settings_);
        options.add_choice(
            "until", until_, {base::until_decided},
            "decided: print verdicts, with intervals valid at every check; default for a run with --until decided");
        options.add_switch("json", json_, "print it as JSON, with whether all verdicts are decided");
        options.example("watch -n 10 interference so-far run1");
        options.epilogue(
            "Covers rank 0's steps and the noise on its node in steps.csv and noise.csv. Without --until do not "
            "stop a run because of this line: its intervals would be too narrow.");
    }

    int run() override
    {
        if (!fs::is_directory(directory_)) base::fail("there is no directory ", directory_);
        if (!options.given("budget"))
            settings_.budget_text = analysis::recorded_budget(directory_).value_or(settings_.budget_text);
        check(settings_);
        const bool ends_when_decided =
            until_ == base::until_decided || analysis::looks_at(directory_) != analysis::Looks::none;
        settings_.looks = ends_when_decided ? analysis::Looks::on_the_way : analysis::Looks::none;
        const analysis::SoFar found = so_far(analysis::read_so_far(directory_), settings_);
        if (json_)
            std::cout << base::json_text(nlohmann::ordered_json{{"format", base::format_version},
                                                                {"line", found.line},
                                                                {"blocks", found.blocks},
                                                                {"decided", found.decided}},
                                         base::one_line)
                      << "\n";
        else
            std::cout << base::printable(found.line) << "\n";
        base::flush_stdout();
        return base::exit_fine;
    }

 private:
    analysis::Settings settings_;
    std::string directory_;
    std::string until_;
    bool json_ = false;
};

class Controls : public base::Command {
 public:
    Controls()
        : Command{"interference controls",
                  "reports how often intervals contain the true value of controls, over many runs"}
    {
        options.add_positional("DIR", runs_, "run directories with reports");
        options.add("victim", victim_, "name of the training, for the table", "NAME");
        options.add("out", out_, "a table with one row per run; must not exist", "FILE.csv");
        options.example("interference controls runs/emulated.* --victim emulated --out emulated.csv");
    }

    int run() override
    {
        if (runs_.empty()) base::fail_usage("controls needs run directories (interference controls --help)");
        std::vector<analysis::RunControls> all;
        for (const std::string& run : runs_) all.push_back(analysis::read_controls(run));
        if (!out_.empty()) analysis::write_controls(out_, victim_, all);
        base::print_lines(std::cout, [&](std::ostream& text) { analysis::print_controls(text, victim_, all); });
        base::flush_stdout();
        return base::exit_fine;
    }

 private:
    std::vector<std::string> runs_;
    std::string victim_ = "training";
    std::string out_;
};

}  // namespace

int main(int argc, char** argv)
try {
    if (argc > 1 && std::strcmp(argv[1], "analyze") == 0) argv[1] = const_cast<char*>("analyse");
    base::Options options{"interference", "reports what noise cost a training, from traces to a verdict"};
    return base::run_program(
        options,
        base::commands<Analyse, SoFar, Exposure, analysis::Compare, analysis::Observe, analysis::Predict, Controls,
                       analysis::ListMetrics, analysis::ExplainMetric, analysis::SummaryCommand, analysis::DiffCommand,
                       analysis::Outcomes, analysis::CheckpointsCommand>(),
        argc, argv);
} catch (...) {
    return base::report_failure("interference");
}
