#include "analysis/cli/designed_report.hpp"

#include "analysis/input/confined.hpp"
#include "analysis/input/join.hpp"
#include "analysis/report/identity.hpp"
#include "analysis/report/limits.hpp"
#include "analysis/report/writers/terminal.hpp"
#include "analysis/report/writers/write.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

namespace analysis {

namespace {

namespace fs = std::filesystem;

// The record beside an archive DIR/trace/traces.otf2: DIR/name. It only adds to the report, so a bad one is left out,
// with a note.
Record record_beside(const fs::path& archive, const std::string& what, const std::string& name,
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
    const Training training = read_training(train, settings.steps);
    std::vector<Noise> noise;
    for (const fs::path& archive : noises) noise.push_back(read_noise(archive));

    otf2::reading_is_over();

    Report report;
    Joined joined = join(training, noise, settings.clock_offset_ns());
    report.run = std::move(joined.run);
    report.notes = std::move(joined.notes);
    report.rules.exposure = {first_warm_step(settings, report.run.steps), settings.guard};
    report.rules.draws = {settings.draws, settings.seed};
    report.schedule = noise.front().schedule;
    report.seed = noise.front().seed;
    report.hosts = training.host;
    report.again = settings.again;
    report.records.push_back(record_beside(train, "training", base::file::run_record, report.notes));
    for (const fs::path& archive : noises)
        report.records.push_back(record_beside(archive, "noise", base::file::noise_record, report.notes));
    drop_foreign_records(report, training, noise);
    for (std::string& reason : noise_stood_still(report)) joined.promises_broken.push_back(std::move(reason));
    report.analysis = analyse(report.run, report.rules);
    report.verdict = verdict(report.run, report.analysis, joined.promises_broken,
                             {settings.budget.value, settings.confidence.fraction()});
    report.limits = limits(report);
    report.own_record = base::run_record("interference");
    write_report(out, report);
    print(std::cout, report);
    std::cout << "\nreport: " << base::printable((out / "index.html").string()) << "\n";
    base::flush_stdout();
    if (!report.verdict.covered) return base::exit_promise_not_kept;
    const std::string met = failure(report.verdict, settings.fail_on);
    if (met.empty()) return base::exit_fine;
    base::warn(met, " (--fail-on ", settings.fail_on, ")");
    return base::exit_failed;
}

}  // namespace

int designed_report(const fs::path& train, const std::vector<fs::path>& noises, const fs::path& out,
                    const Settings& settings)
{
    if (fs::exists(out)) base::fail_taken(out);
    std::vector<fs::path> archives{train};
    archives.insert(archives.end(), noises.begin(), noises.end());
    return otf2::confined("interference", limits_for(archives), [&] { return report(train, noises, out, settings); });
}

}  // namespace analysis
