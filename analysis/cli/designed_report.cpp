// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/designed_report.hpp"

#include "analysis/cli/pdf.hpp"
#include "analysis/cli/printed_report.hpp"
#include "analysis/input/confined.hpp"
#include "analysis/input/join.hpp"
#include "analysis/input/training_reader.hpp"
#include "analysis/report/pooled/pooled_report.hpp"
#include "analysis/report/pooled/writers.hpp"
#include "analysis/report/writers/write.hpp"
#include "analysis/results/identity.hpp"
#include "analysis/results/limits.hpp"
#include "analysis/sections/section.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/files.hpp"
#include "base/words.hpp"

namespace analysis {

namespace {

namespace fs = std::filesystem;

using SectionStep = void (*Section::*)(Report&, const SectionInput&);

void run_sections(SectionStep step, Report& report, const RunFiles& files, const otf2::StepChoice& steps)
{
    const SectionInput input{report.archive.get(), steps, files.settings.steps.region, files.settings.empty_node,
                             files.settings.node_hour_cost};
    for (const Section* section : sections())
        if (section->*step != nullptr) (section->*step)(report, input);
}

Report report_of(const RunFiles& files)
{
    const Settings& settings = files.settings;
    const Training training = read_training(files.train, settings.steps);
    std::vector<Noise> noise;
    for (const fs::path& archive : files.noise) noise.push_back(read_noise(archive));

    Report report;
    Joined joined = join(training, noise, settings.clock_offset_ns());
    report.run = std::move(joined.run);
    report.archive = training.archive;
    report.notes = std::move(joined.notes);
    if (!files.pruned.empty())
        report.notes.push_back(base::join("the training's archive was pruned at ", files.pruned,
                                          ": this report is based on steps.csv, and has no sections on MPI and GPUs"));
    report.rules.exposure = {warm_up_steps(settings, report.run), settings.guard};
    report.rules.draws = {settings.draws, settings.seed};
    report.rules.looks = settings.looks;
    report.schedule = noise.front().schedule;
    report.seed = noise.front().seed;
    report.hosts = training.host;
    report.step_is = settings.step_is.empty() ? training.steps_are : settings.step_is;
    report.again = settings.again;
    report.records.push_back(record_beside(files.train, "training", base::file::run_record, report.notes));
    for (const fs::path& archive : files.noise)
        report.records.push_back(record_beside(archive, "noise", base::file::noise_record, report.notes));
    for (const Record& record : report.records)
        if (std::string lost = lost_noise_record(record); !lost.empty())
            joined.promises_broken.push_back(std::move(lost));
    drop_foreign_records(report, training, noise);
    RecordedFaults faults = recorded_faults(report);
    for (std::string& reason : faults.promises_broken) joined.promises_broken.push_back(std::move(reason));
    run_sections(&Section::read, report, files, training.choice);
    report.analysis = analyse(report.run, report.rules);
    report.verdict = verdict(report.run, report.analysis, joined.promises_broken,
                             {settings.budget.value, settings.confidence.fraction(), settings.looks,
                              std::move(faults.insensitive), std::move(faults.lacked)});
    run_sections(&Section::estimate, report, files, training.choice);
    report.limits = limits(report);
    report.own_record = base::run_record("interference");
    return report;
}

// Makes the report of one part. Its errors name the part if there are several.
Report report_of(const RunFiles& files, bool is_one_of_many)
try {
    return report_of(files);
} catch (const base::UsageError&) {
    throw;
} catch (const TooShort& error) {
    if (!is_one_of_many) throw;
    throw TooShort{base::join(files.name, ": ", error.what())};
} catch (const base::Error& error) {
    if (!is_one_of_many) throw;
    base::fail(files.name, ": ", error.what());
}

int exit_code(const Verdict& verdict, const Settings& settings)
{
    if (!verdict.covered) return base::exit_promise_not_kept;
    const std::string met = failure(verdict, settings.fail_on);
    if (met.empty()) return base::exit_fine;
    base::warn(met, " (--fail-on ", settings.fail_on, ")");
    return base::exit_failed;
}

int finished(Report report, const RunFiles& files, const fs::path& out, const Settings& settings)
{
    run_sections(&Section::complete, report, files, files.settings.steps);
    otf2::reading_is_over();
    write_report(out, report);
    print_report(out, settings);
    return exit_code(report.verdict, settings);
}

int pooled_report(const std::vector<RunParts>& runs, const fs::path& out, const Settings& settings)
{
    std::vector<std::vector<NamedReport>> reports;
    std::vector<std::string> left_out;
    const RunFiles* only = nullptr;
    for (const RunParts& parts : runs) {
        std::vector<NamedReport> own;
        for (const RunFiles& part : parts) {
            try {
                own.push_back({part.name, part.directory, report_of(part, true)});
                only = &part;
            } catch (const TooShort& error) {
                left_out.push_back(base::join("left out is ", error.what()));
            }
        }
        if (!own.empty()) reports.push_back(std::move(own));
    }
    if (reports.empty()) throw TooShort{left_out.front()};
    if (reports.size() == 1 && reports.front().size() == 1) {
        Report report = std::move(reports.front().front().report);
        report.limits.insert(report.limits.end(), left_out.begin(), left_out.end());
        return finished(std::move(report), *only, out, settings);
    }
    for (std::vector<NamedReport>& parts : reports)
        for (NamedReport& part : parts) part.report.archive.reset();
    otf2::reading_is_over();
    PooledReport report = pooled(std::move(reports), settings.again);
    report.all.limits.insert(report.all.limits.end(), left_out.begin(), left_out.end());
    write_pooled(out, report);
    print_report(out, settings);
    return exit_code(report.all.verdict, settings);
}

}  // namespace

int designed_report(const std::vector<RunParts>& runs, const fs::path& out, const Settings& settings)
{
    if (fs::exists(out)) base::fail_taken(out);
    const bool is_one = runs.size() == 1 && runs.front().size() == 1;
    const std::string browser = settings.pdf ? pdf_browser() : "";
    const int code = otf2::confined("interference", limits_for(archives_of(runs)), [&] {
        if (!is_one) return pooled_report(runs, out, settings);
        const RunFiles& files = runs.front().front();
        return finished(report_of(files), files, out, settings);
    });
    if (settings.pdf && fs::exists(out)) print_pdf(browser, out / "index.html", out / "report.pdf");
    return code;
}

}  // namespace analysis
