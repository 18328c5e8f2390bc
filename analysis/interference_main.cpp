// interference: what noise cost a training, from traces to a verdict an operator can act on.
#include "analysis/cli/designed_report.hpp"
#include "analysis/cli/settings.hpp"
#include "analysis/cli/so_far.hpp"
#include "analysis/input/confined.hpp"
#include "analysis/report/writers/comparison_report.hpp"
#include "analysis/report/writers/controls_report.hpp"
#include "base/cli/commands.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/files.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <iostream>

namespace {

namespace fs = std::filesystem;

class Analyse : public base::Command {
 public:
    Analyse() : Command{"interference analyse", "everything that the files of a run directory allow, into DIR/report"}
    {
        options.add_positional("DIR", directory_, "the run's directory, with train/ and noise/ in it");
        options.add("out", out_, "the report's directory instead of DIR/report; must not be there yet", "DIR");
        options.add("steps", steps_, "the training's steps, instead of those in DIR/train: see interference exposure",
                    "FILE");
        add_settings(options, settings_);
        options.example("interference analyse run1");
        options.example("interference analyse run1 --step-from MPI_Allreduce");
    }

    int run() override
    {
        check(settings_);
        const fs::path run = directory_;
        const fs::path report = out_.empty() ? run / base::part::report : fs::path{out_};
        if (fs::exists(report)) base::fail_taken(report);
        if (!fs::is_directory(run)) base::fail("there is no directory ", run.string());
        const fs::path train = steps_.empty() ? training_in(run / base::part::train) : fs::path{steps_};
        std::vector<fs::path> noise;
        if (fs::is_directory(run / base::part::noise))
            for (const fs::directory_entry& process : fs::directory_iterator{run / base::part::noise})
                if (process.is_directory()) noise.push_back(process.path() / base::file::anchor_in_part);
        if (noise.empty()) base::fail("there is no noise process in ", (run / base::part::noise).string());
        std::sort(noise.begin(), noise.end());
        return designed_report(train, noise, report, settings_);
    }

 private:
    // ddl-train leaves a table of its steps even where its archive was cut off, which then proves less.
    static fs::path training_in(const fs::path& part)
    {
        fs::path archive = part / base::file::anchor_in_part;
        if (fs::exists(archive)) return archive;
        fs::path table = part / base::file::steps;
        const bool of_ddl_train = fs::exists(part / base::file::run_record);
        if (fs::exists(table) && !of_ddl_train) return table;
        base::fail("there is no ", archive.string(), ": no training, or one that was cut off");
    }

    analysis::Settings settings_;
    std::string directory_;
    std::string steps_;
    std::string out_;
};

class Exposure : public base::Command {
 public:
    Exposure() : Command{"interference exposure", "the analysis of one designed run: what each noise cost each step"}
    {
        options.add("train", train_, "the training's archive, DIR/train/trace/traces.otf2", "FILE");
        options.add("steps", steps_,
                    "the training's steps instead of its archive: columns rank, step, begin_ns, end_ns of the node's "
                    "CLOCK_MONOTONIC, and if wanted host and a <phase>_ns for each phase",
                    "FILE");
        options.add("noise", noise_, "the noise's archives, DIR/noise/*/trace/traces.otf2", "FILE...");
        options.add("out", out_, "the report's directory; must not be there yet", "DIR");
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
            base::fail_usage("exposure needs --train or --steps, one of them (interference exposure --help)");
        if (noise_.empty() || out_.empty())
            base::fail_usage("exposure needs --noise and --out (interference exposure --help)");
        return designed_report(train_.empty() ? steps_ : train_, {noise_.begin(), noise_.end()}, out_, settings_);
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
        : Command{"interference so-far", "one line on a run that still goes on: what each noise costs as far as known"}
    {
        options.add_positional("DIR", directory_, "the run's directory, with train/ and noise/ in it");
        add_common(options, settings_);
        options.example("watch -n 10 interference so-far run1");
        options.epilogue(
            "Rank 0's steps and the noise on its node, as they stand in steps.csv and noise.csv. The run's length is "
            "not to be chosen by this line: intervals that end when they please are too narrow.");
    }

    int run() override
    {
        check(settings_);
        if (!fs::is_directory(directory_)) base::fail("there is no directory ", directory_);
        std::cout << so_far_line(analysis::read_so_far(directory_), settings_) << "\n";
        base::flush_stdout();
        return base::exit_fine;
    }

 private:
    analysis::Settings settings_;
    std::string directory_;
};

// Two times the same run would look like two that agree.
void check_different(const std::vector<analysis::RunSteps>& quiet, const std::vector<analysis::RunSteps>& noisy)
{
    std::vector<const analysis::RunSteps*> known;
    for (const auto* set : {&quiet, &noisy})
        for (const analysis::RunSteps& run : *set) {
            for (const analysis::RunSteps* other : known)
                if (analysis::same_run(run, *other))
                    base::fail_usage(run.name, " and ", other->name,
                                     " are the same run: the run is the unit, each counts once");
            known.push_back(&run);
        }
}

class Compare : public base::Command {
 public:
    Compare() : Command{"interference compare", "sets of runs, quiet against noisy; the run is the unit"}
    {
        options.add("quiet", quiet_, "runs without noise: run directories, archives or steps.csv", "RUN...");
        options.add("noisy", noisy_, "runs with noise", "RUN...");
        options.add("out", out_, "the report's directory; must not be there yet", "DIR");
        add_common(options, settings_);
        options.example("interference compare --quiet q1 q2 q3 --noisy n1 n2 n3 --out comparison");
    }

    int run() override
    {
        if (out_.empty()) base::fail_usage("compare needs --out (interference compare --help)");
        check(settings_);
        if (settings_.warm_up_time.count() > 0) base::fail_usage("--warmup of compare is a number of steps");
        if (fs::exists(out_)) base::fail_taken(out_);
        std::vector<fs::path> files;
        for (const auto* set : {&quiet_, &noisy_})
            for (const std::string& run : *set) files.push_back(analysis::steps_file(run));
        return otf2::confined("interference", analysis::limits_for(files), [this] { return report(); });
    }

 private:
    int report() const
    {
        std::vector<analysis::RunSteps> quiet_runs;
        std::vector<analysis::RunSteps> noisy_runs;
        for (const std::string& run : quiet_) quiet_runs.push_back(analysis::read_run_steps(run));
        for (const std::string& run : noisy_) noisy_runs.push_back(analysis::read_run_steps(run));
        otf2::reading_is_over();
        check_different(quiet_runs, noisy_runs);
        const analysis::ComparisonReport report{
            analysis::compare(quiet_runs, noisy_runs, settings_.warm_up, settings_.confidence.fraction()), quiet_,
            noisy_, settings_.budget.value, base::run_record("interference")};
        analysis::write_comparison(out_, report);
        analysis::print(std::cout, report);
        std::cout << "\nreport: " << base::printable((fs::path{out_} / "index.html").string()) << "\n";
        base::flush_stdout();
        return base::exit_fine;
    }

    analysis::Settings settings_;
    std::vector<std::string> quiet_;
    std::vector<std::string> noisy_;
    std::string out_;
};

class Controls : public base::Command {
 public:
    Controls()
        : Command{"interference controls", "how often the intervals of known effects hold the truth, over many runs"}
    {
        options.add_positional("DIR", runs_, "run directories with reports");
        options.add("victim", victim_, "what was trained, for the table", "NAME");
        options.add("out", out_, "a table with a row for each run; must not be there yet", "FILE.csv");
        options.example("interference controls runs/emulated.* --victim emulated --out emulated.csv");
    }

    int run() override
    {
        if (runs_.empty()) base::fail_usage("controls needs run directories (interference controls --help)");
        std::vector<analysis::RunControls> all;
        for (const std::string& run : runs_) all.push_back(analysis::read_controls(run));
        if (!out_.empty()) analysis::write_controls(out_, victim_, all);
        analysis::print_controls(std::cout, victim_, all);
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
    base::Options options{"interference", "what noise cost a training, from traces to a verdict"};
    return base::run_program(options, base::commands<Analyse, SoFar, Exposure, Compare, Controls>(), argc, argv);
} catch (...) {
    return base::report_failure("interference");
}
