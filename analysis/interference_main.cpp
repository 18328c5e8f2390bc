// interference: what noise cost a training, from traces to a verdict an operator can act on.
#include "analysis/input/confined.hpp"
#include "analysis/input/join.hpp"
#include "analysis/report/identity.hpp"
#include "analysis/report/limits.hpp"
#include "analysis/report/writers/comparison_report.hpp"
#include "analysis/report/writers/controls_report.hpp"
#include "analysis/report/writers/terminal.hpp"
#include "analysis/report/writers/write.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/options.hpp"
#include "base/version.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <optional>

namespace {

namespace fs = std::filesystem;

struct Settings {
    base::Percent budget{1.0};
    base::Percent confidence{95.0};
    std::int64_t warm_up = 10;
    base::Nanoseconds guard{0};
    int draws = 9999;
    std::uint64_t seed = 1;
    std::string clock_offset;
    std::string fail_on;
    std::string again;

    std::optional<std::int64_t> clock_offset_ns() const;
};

void add_common(base::Options& options, Settings& settings)
{
    options.add("budget", settings.budget, "slowdown of a step that is still affordable");
    options.add("warmup", settings.warm_up, "steps to leave out at a training's start");
    options.add("confidence", settings.confidence, "of the intervals");
}

void add_settings(base::Options& options, Settings& settings)
{
    add_common(options, settings);
    options.add("guard", settings.guard, "leave out steps that begin so soon after noise changed");
    options.add("draws", settings.draws, "of the re-randomisation test");
    options.add("seed", settings.seed, "of the re-randomisation test");
    options.add("clock-offset", settings.clock_offset,
                "training's clock - noise's clock, such as 1.5s or -20ms, where they are not the same clock");
    options.add("fail-on", settings.fail_on, "exit code 1 for a report that is any of: unsafe, undecided, untrusted",
                "LIST");
    options.add("again", settings.again,
                "command that makes such a run anew, for the report to show; {seconds} in it stands for its length; "
                "without it the recorded command lines",
                "TEXT");
    options.epilogue(
        "Exit codes: 0 fine, 1 failed, or --fail-on is met, 2 wrong usage, 3 noise did not cover the training (this "
        "goes "
        "before --fail-on).");
}

const std::vector<std::string> failing{"unsafe", "undecided", "untrusted"};

// What of --fail-on the report is; empty if nothing.
std::string failure(const analysis::Verdict& verdict, const std::string& fail_on)
{
    const std::vector<std::string> words = base::split(fail_on, ',');
    const auto asked = [&](const std::string& word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (!verdict.trustworthy && asked("untrusted")) return "the run cannot be trusted";
    for (const char* judged : {"unsafe", "undecided"})
        for (const analysis::FactorVerdict& factor : verdict.factors)
            if (factor.verdict == judged && asked(judged))
                return base::factor_name(factor.factor, factor.level) + " is " + judged;
    return "";
}

std::optional<std::int64_t> Settings::clock_offset_ns() const
{
    if (clock_offset.empty()) return std::nullopt;
    return base::parse_difference_ns(clock_offset);
}

void check(const Settings& settings)
{
    if (settings.confidence.value < 50.0 || settings.confidence.value >= 100.0)
        base::fail_usage("--confidence: from 50% to less than 100%");
    if (settings.budget.value <= 0.0) base::fail_usage("--budget: must be more than 0%");
    if (settings.warm_up < 0) base::fail_usage("--warmup: a number of steps");
    if (settings.draws < 0 || settings.draws > 10'000'000) base::fail_usage("--draws: from 0 to ten million");
    for (const std::string& word : base::split(settings.fail_on, ','))
        if (std::find(failing.begin(), failing.end(), word) == failing.end())
            base::fail_usage("--fail-on: no word '", word, "'", base::did_you_mean(word, failing), " (there are ",
                             base::join_words(failing, ", "), ")");
    static_cast<void>(settings.clock_offset_ns());
}

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

// The record beside an archive DIR/trace/traces.otf2: DIR/name. It only adds to the report, so a bad one is left out,
// with a note.
analysis::Record record_beside(const fs::path& archive, const std::string& what, const std::string& name,
                               std::vector<std::string>& notes)
{
    for (const fs::path& folder : {archive.parent_path().parent_path(), archive.parent_path()}) {
        std::error_code ignored;
        if (!fs::is_regular_file(folder / name, ignored)) continue;
        try {
            return {what, archive, base::read_json(folder / name)};
        } catch (const base::Error& error) {
            notes.push_back(base::join("the record of the ", what, " is left out: ", error.what()));
        } catch (const nlohmann::json::exception&) {
            notes.push_back(
                base::join("the record of the ", what, " is left out: ", (folder / name).string(), " is no JSON"));
        }
        break;
    }
    return {what, archive, nullptr};
}

int report(const fs::path& train, const std::vector<fs::path>& noises, const fs::path& out, const Settings& settings)
{
    const analysis::Training training = analysis::read_training(train);
    std::vector<analysis::Noise> noise;
    for (const fs::path& archive : noises) noise.push_back(analysis::read_noise(archive));

    otf2::reading_is_over();

    analysis::Report report;
    analysis::Joined joined = analysis::join(training, noise, settings.clock_offset_ns());
    report.run = std::move(joined.run);
    report.notes = std::move(joined.notes);
    report.rules.exposure = {settings.warm_up, settings.guard};
    report.rules.draws = {settings.draws, settings.seed};
    report.schedule = noise.front().schedule;
    report.seed = noise.front().seed;
    report.hosts = training.host;
    report.again = settings.again;
    report.records.push_back(record_beside(train, "training", base::file::run_record, report.notes));
    for (const fs::path& archive : noises)
        report.records.push_back(record_beside(archive, "noise", base::file::noise_record, report.notes));
    analysis::drop_foreign_records(report, training, noise);
    for (std::string& reason : analysis::noise_stood_still(report)) joined.promises_broken.push_back(std::move(reason));
    report.analysis = analysis::analyse(report.run, report.rules);
    report.verdict = analysis::verdict(report.run, report.analysis, joined.promises_broken,
                                       {settings.budget.value, settings.confidence.fraction()});
    report.limits = analysis::limits(report);
    report.own_record = base::run_record("interference");
    analysis::write_report(out, report);
    analysis::print(std::cout, report);
    std::cout << "\nreport: " << base::printable((out / "index.html").string()) << "\n";
    base::flush_stdout();
    if (!report.verdict.covered) return base::exit_promise_not_kept;
    const std::string met = failure(report.verdict, settings.fail_on);
    if (met.empty()) return base::exit_fine;
    base::warn(met, " (--fail-on ", settings.fail_on, ")");
    return base::exit_failed;
}

// The same in a child process, which the archives cannot harm.
int confined_report(const fs::path& train, const std::vector<fs::path>& noises, const fs::path& out,
                    const Settings& settings)
{
    if (fs::exists(out)) base::fail_usage(out.string(), " is already there; give another --out, or move it away");
    std::vector<fs::path> archives{train};
    archives.insert(archives.end(), noises.begin(), noises.end());
    return otf2::confined("interference", analysis::limits_for(archives),
                          [&] { return report(train, noises, out, settings); });
}

int exposure(int argc, char** argv)
{
    Settings settings;
    std::string train;
    std::vector<std::string> noise;
    std::string out;
    base::Options options{"interference exposure", "the analysis of one designed run: what each noise cost each step"};
    options.add("train", train, "the training's archive, DIR/train/trace/traces.otf2");
    options.add("noise", noise, "the noise's archives, DIR/noise/*/trace/traces.otf2");
    options.add("out", out, "the report's directory; must not be there yet");
    add_settings(options, settings);
    options.example(
        "interference exposure --train run1/train/trace/traces.otf2 --noise run1/noise/*/trace/traces.otf2 --out "
        "report");
    if (!options.parse(argc, argv)) return base::exit_fine;
    check(settings);
    if (train.empty() || noise.empty() || out.empty())
        base::fail_usage("exposure needs --train, --noise and --out (interference exposure --help)");
    return confined_report(train, {noise.begin(), noise.end()}, out, settings);
}

int analyse(int argc, char** argv)
{
    Settings settings;
    std::string directory;
    std::string out;
    base::Options options{"interference analyse",
                          "everything that the files of a run directory allow, into DIR/report"};
    options.add_positional("DIR", directory, "the run's directory, with train/ and noise/ in it");
    options.add("out", out, "the report's directory instead of DIR/report; must not be there yet");
    add_settings(options, settings);
    options.example("interference analyse run1");
    if (!options.parse(argc, argv)) return base::exit_fine;
    check(settings);
    const fs::path run = directory;
    if (!fs::is_directory(run)) base::fail("there is no directory ", run.string());
    const fs::path train = run / base::part::train / base::file::anchor_in_part;
    if (!fs::exists(train)) base::fail("there is no ", train.string(), ": no training, or one that was cut off");
    std::vector<fs::path> noise;
    if (fs::is_directory(run / base::part::noise))
        for (const fs::directory_entry& process : fs::directory_iterator{run / base::part::noise})
            if (process.is_directory()) noise.push_back(process.path() / base::file::anchor_in_part);
    if (noise.empty()) base::fail("there is no noise process in ", (run / base::part::noise).string());
    std::sort(noise.begin(), noise.end());
    return confined_report(train, noise, out.empty() ? run / base::part::report : fs::path{out}, settings);
}

int compare(const std::vector<std::string>& quiet, const std::vector<std::string>& noisy, const fs::path& out,
            const Settings& settings)
{
    std::vector<analysis::RunSteps> quiet_runs;
    std::vector<analysis::RunSteps> noisy_runs;
    for (const std::string& run : quiet) quiet_runs.push_back(analysis::read_run_steps(run));
    for (const std::string& run : noisy) noisy_runs.push_back(analysis::read_run_steps(run));
    otf2::reading_is_over();
    check_different(quiet_runs, noisy_runs);
    const analysis::ComparisonReport report{
        analysis::compare(quiet_runs, noisy_runs, settings.warm_up, settings.confidence.fraction()), quiet, noisy,
        settings.budget.value, base::run_record("interference")};
    analysis::write_comparison(out, report);
    analysis::print(std::cout, report);
    std::cout << "\nreport: " << base::printable((out / "index.html").string()) << "\n";
    base::flush_stdout();
    return base::exit_fine;
}

int compare(int argc, char** argv)
{
    Settings settings;
    std::string out;
    std::vector<std::string> quiet;
    std::vector<std::string> noisy;
    base::Options options{"interference compare", "sets of runs, quiet against noisy; the run is the unit"};
    options.add("quiet", quiet, "runs without noise: run directories, archives or steps.csv");
    options.add("noisy", noisy, "runs with noise");
    options.add("out", out, "the report's directory; must not be there yet");
    add_common(options, settings);
    options.example("interference compare --quiet q1 q2 q3 --noisy n1 n2 n3 --out comparison");
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (out.empty()) base::fail_usage("compare needs --out (interference compare --help)");
    check(settings);
    if (fs::exists(out)) base::fail_usage(out, " is already there; give another --out, or move it away");
    std::vector<fs::path> files;
    for (const auto* set : {&quiet, &noisy})
        for (const std::string& run : *set) files.push_back(analysis::steps_file(run));
    return otf2::confined("interference", analysis::limits_for(files),
                          [&] { return compare(quiet, noisy, out, settings); });
}

int controls(int argc, char** argv)
{
    std::vector<std::string> runs;
    std::string victim = "training";
    std::string out;
    base::Options options{"interference controls",
                          "how often the intervals of known effects hold the truth, over many runs"};
    options.add_positional("DIR", runs, "run directories with reports");
    options.add("victim", victim, "what was trained, for the table");
    options.add("out", out, "a table with a row for each run; must not be there yet", "FILE.csv");
    options.example("interference controls runs/emulated.* --victim emulated --out emulated.csv");
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (runs.empty()) base::fail_usage("controls needs run directories (interference controls --help)");
    std::vector<analysis::RunControls> all;
    for (const std::string& run : runs) all.push_back(analysis::read_controls(run));
    if (!out.empty()) analysis::write_controls(out, victim, all);
    analysis::print_controls(std::cout, victim, all);
    base::flush_stdout();
    return base::exit_fine;
}

constexpr const char* usage =
    "interference: what noise cost a training, from traces to a verdict\n\n"
    "Usage: interference COMMAND [options]\n\n"
    "  analyse DIR   everything that the files of a run directory allow, into DIR/report\n"
    "  exposure      the analysis of one designed run, from its archives\n"
    "  compare       sets of runs, quiet against noisy\n"
    "  controls      how often intervals of known effects hold the truth, over many runs\n\n"
    "interference COMMAND --help shows the options of each.\n\n"
    "Example:\n  interference analyse run1\n";

}  // namespace

int main(int argc, char** argv)
try {
    const std::string command = argc > 1 ? argv[1] : "";
    if (command == "exposure") return exposure(argc - 1, argv + 1);
    if (command == "analyse") return analyse(argc - 1, argv + 1);
    if (command == "compare") return compare(argc - 1, argv + 1);
    if (command == "controls") return controls(argc - 1, argv + 1);
    if (command == "--help" || command == "-h") {
        std::cout << usage;
        base::flush_stdout();
        return base::exit_fine;
    }
    if (command == "--version") {
        std::cout << "interference " << base::version() << "\n";
        base::flush_stdout();
        return base::exit_fine;
    }
    const std::vector<std::string> commands{"analyse", "exposure", "compare", "controls"};
    if (command.empty())
        base::fail_usage("expects a command: analyse, exposure, compare or controls (interference --help)");
    base::fail_usage("no command '", command, "'", base::did_you_mean(command, commands), " (interference --help)");
} catch (...) {
    return base::report_failure("interference");
}
