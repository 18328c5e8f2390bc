// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/observe.hpp"

#include "analysis/cli/printed_report.hpp"
#include "analysis/conclude/confounders.hpp"
#include "analysis/input/confined.hpp"
#include "analysis/input/observed/observed_run.hpp"
#include "analysis/input/run_steps.hpp"
#include "analysis/input/training_reader.hpp"
#include "analysis/report/writers/write.hpp"
#include "analysis/results/limits.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

namespace analysis {

namespace fs = std::filesystem;

namespace {

// Removes the verdicts, which need a design; the observed effects and the possible confounders stay.
void take_back_verdicts(Report& report)
{
    Verdict& verdict = report.verdict;
    verdict.observed = true;
    verdict.trustworthy = false;
    verdict.reasons = confounders(report.run, report.analysis);
    for (FactorVerdict& factor : verdict.factors) {
        factor.verdict = base::verdict_word::observed;
        factor.forecast.reset();
        factor.setting = {.text = "None: this noise was not designed."};
    }
}

int no_answer(const fs::path& out, const std::string& why)
{
    base::WholeDirectory directory{out};
    nlohmann::ordered_json verdict{{"format", base::format_version}, {"observed", true}, {"trustworthy", false}};
    verdict["reasons"] = nlohmann::ordered_json::array({why});
    verdict["factors"] = nlohmann::ordered_json::object();
    base::write_whole(directory.path() / base::file::verdict, base::json_text(verdict) + "\n");
    base::write_whole(directory.path() / base::file::run_record,
                      base::json_text(base::run_record("interference")) + "\n");
    directory.finish();
    std::cout << "OBSERVED, no verdict: " << base::printable(why) << "\n";
    base::flush_stdout();
    return base::exit_promise_not_kept;
}

Report report_on(const Training& training, ObservedRun observed, const std::vector<fs::path>& noise,
                 const Settings& settings)
{
    Report report;
    report.run = std::move(observed.run);
    report.notes = std::move(observed.notes);
    report.rules.exposure = {warm_up_steps(settings, report.run), settings.guard};
    report.rules.draws = {.count = 0, .seed = settings.seed};
    std::vector<std::string> names;
    for (const fs::path& file : noise) names.push_back(file.string());
    report.schedule = "not designed; as recorded in " + base::join_words(names, ", ");
    report.hosts = training.host;
    report.step_is = training.steps_are;
    report.own_record = base::run_record("interference");
    report.analysis = analyse(report.run, report.rules);
    report.verdict =
        verdict(report.run, report.analysis, {}, {settings.budget.value, settings.confidence.fraction(), Looks::none});
    take_back_verdicts(report);
    report.limits = limits(report);
    return report;
}

int observed(const fs::path& train, const std::vector<fs::path>& noise, const fs::path& out, const Settings& settings)
{
    const Training training = read_training(train, settings.steps);
    std::vector<NoiseLog> logs;
    for (const fs::path& file : noise)
        logs.push_back(file.extension() == ".csv" ? read_noise_table(file) : read_noise_regions(file));
    otf2::reading_is_over();
    ObservedRun run = observed_run(training, logs, settings.clock_offset_ns());
    if (!run.no_answer.empty()) return no_answer(out, run.no_answer);
    std::optional<Report> report;
    try {
        report = report_on(training, std::move(run), noise, settings);
    } catch (const base::UsageError&) {
        throw;
    } catch (const base::Error& error) {
        return no_answer(out, error.what());
    }
    write_report(out, *report);
    print_report(out, settings);
    return base::exit_fine;
}

}  // namespace

Observe::Observe()
    : Command{"interference observe", "reports the apparent slowdown by noise that was not designed, without a verdict"}
{
    options.add("train", train_, "the training: its run directory, its archive, or a table of its steps", "RUN");
    options.add(
        "noise", noise_,
        "when noise ran: a table begin_s,end_s,host,what,level (seconds since 1970, or CLOCK_MONOTONIC), or the "
        "outermost regions of any OTF2 archive",
        "FILE...");
    options.add("out", out_, "the report's directory; must not exist", "DIR");
    add_step_choice(options, settings_);
    add_common(options, settings_);
    options.add("guard", settings_.guard, "exclude steps that begin within this time after noise changed", "TIME");
    options.add("clock-offset", settings_.clock_offset,
                "training's clock - noise's clock, such as 1.5s or -20ms, if they have different clocks", "TIME");
    add_format(options, settings_);
    options.example("interference observe --train run1 --noise jobs.csv --out observed");
    options.epilogue("Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 there was nothing to compare.");
}

int Observe::run()
{
    check(settings_);
    if (train_.empty() || noise_.empty() || out_.empty())
        base::fail_usage("observe needs --train, --noise and --out (interference observe --help)");
    return observed_report(steps_file(train_), {noise_.begin(), noise_.end()}, out_, settings_);
}

int observed_report(const fs::path& train, const std::vector<fs::path>& noise, const fs::path& out,
                    const Settings& settings)
{
    if (fs::exists(out)) base::fail_taken(out);
    for (const fs::path& file : noise)
        if (!fs::exists(file)) base::fail("there is no ", file.string());
    std::vector<fs::path> files{train};
    files.insert(files.end(), noise.begin(), noise.end());
    return otf2::confined("interference", limits_for(files), [&] { return observed(train, noise, out, settings); });
}

}  // namespace analysis
