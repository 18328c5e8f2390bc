// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/controls_report.hpp"

#include "analysis/results/numbers.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/statistics.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace analysis {

namespace {

using Json = nlohmann::ordered_json;
using Results = std::vector<ControlResult>;

std::optional<ControlResult> control(const Json& controls, const char* name)
{
    const Json one = controls.value(name, Json::object());
    if (!one.is_object()) return {};  // no such control in the schedule
    if (!one.value("effect_percent", Json{}).is_number() || !one.value("judged", true)) return {};
    return ControlResult{one.at("effect_percent"), one.at("low_percent"), one.at("high_percent"),
                         one.value("true_percent", Json{}).is_number() ? one.at("true_percent").get<double>() : 0.0};
}

std::string text(double value)
{
    return base::format(value);
}

void add(std::vector<std::string>& row, const std::optional<ControlResult>& result, bool with_truth)
{
    const auto cell = [&](double ControlResult::*value) { return result ? text((*result).*value) : ""; };
    for (const auto value : {&ControlResult::percent, &ControlResult::low, &ControlResult::high})
        row.push_back(cell(value));
    if (with_truth) row.push_back(cell(&ControlResult::truth));
}

Results of(const std::vector<RunControls>& runs, std::optional<ControlResult> RunControls::*control)
{
    Results results;
    for (const RunControls& run : runs)
        if (run.*control) results.push_back(*(run.*control));
    return results;
}

template <class Value>
double mean(const Results& results, Value value)
{
    double sum = 0.0;
    for (const ControlResult& result : results) sum += value(result);
    return sum / static_cast<double>(results.size());
}

void print_pooled(std::ostream& out, const std::string& what, const Results& results)
{
    if (results.size() < 2) {
        out << "  " << what << ", pooled: fewer than two runs\n";
        return;
    }
    std::vector<double> off;
    for (const ControlResult& result : results) off.push_back(result.percent - result.truth);
    const base::Mean pooled = base::mean_of(off);
    const base::Interval interval = pooled.interval(0.95);
    char line[128];
    std::snprintf(line, sizeof line, "%+.3f %% [%+.3f, %+.3f]: %s", pooled.value, interval.low, interval.high,
                  interval.contains(0.0) ? "contains 0" : "does NOT contain 0");
    out << "  " << what << ", pooled: " << line << "\n";
}

void print_control(std::ostream& out, const std::string& what, const Results& results, bool known_truth)
{
    const auto inside =
        std::count_if(results.begin(), results.end(), [](const ControlResult& result) { return result.holds_truth(); });
    char line[160];
    if (known_truth)
        std::snprintf(line, sizeof line, ", true value %.3f %% (mean): inside the 95 %% interval in %td of %zu",
                      mean(results, [](const ControlResult& result) { return result.truth; }), inside, results.size());
    else
        std::snprintf(line, sizeof line, ": 0 inside the 95 %% interval in %td of %zu", inside, results.size());
    char width[64];
    std::snprintf(width, sizeof width, ", half width %.3f %% (mean)",
                  mean(results, [](const ControlResult& result) { return (result.high - result.low) / 2.0; }));
    out << "  " << what << line << width << "\n";
}

}  // namespace

RunControls read_controls(const std::filesystem::path& run)
{
    const std::filesystem::path file = run / base::part::report / base::file::verdict;
    try {
        const Json json = base::read_json(file);
        const Json& controls = json.at("controls");
        return {json.at("quiet_step_ms"), json.at("trustworthy"), control(controls, "placebo"),
                control(controls, "delay"), control(controls, "pause")};
    } catch (const nlohmann::json::exception&) {
        base::fail(file.string(), " is not a verdict of interference");
    }
}

void write_controls(const std::filesystem::path& file, const std::string& victim, const std::vector<RunControls>& runs)
{
    std::vector<std::string> columns{"victim", "run", "quiet_step_ms"};
    for (const char* name : {"placebo", "delay", "pause"}) {
        if (std::string{name} == "pause") columns.emplace_back("trustworthy");
        for (const char* value : {"_percent", "_low_percent", "_high_percent", "_true_percent"})
            if (std::string{name} != "placebo" || std::string{value} != "_true_percent")
                columns.push_back(std::string{name} + value);
    }
    base::CsvWriter table{file, columns, base::CsvWriter::Appear::whole};
    for (std::size_t i = 0; i < runs.size(); ++i) {
        std::vector<std::string> row{victim, std::to_string(i + 1), text(runs[i].quiet_step_ms)};
        add(row, runs[i].placebo, false);
        add(row, runs[i].delay, true);
        row.emplace_back(runs[i].trustworthy ? "true" : "false");
        add(row, runs[i].pause, true);
        table.write(row);
    }
    table.finish();
}

void print_controls(std::ostream& out, const std::string& victim, const std::vector<RunControls>& runs)
{
    std::vector<double> steps;
    for (const RunControls& run : runs) steps.push_back(run.quiet_step_ms);
    char step[32];
    std::snprintf(step, sizeof step, "%.1f ms", base::mean_of(steps).value);
    out << victim << ": " << counted(runs.size(), "run") << ", quiet step " << step << ", "
        << std::count_if(runs.begin(), runs.end(), [](const RunControls& run) { return run.trustworthy; })
        << " of them trustworthy\n";
    Results delays = of(runs, &RunControls::delay);
    std::erase_if(delays, [](const ControlResult& result) { return result.truth <= 0.0; });
    if (delays.size() < runs.size())
        out << "  control delay: not connected in " << runs.size() - delays.size() << " of " << runs.size()
            << ", which are left out\n";
    if (!delays.empty()) print_control(out, "control delay", delays, true);
    print_pooled(out, "delay measured minus true", delays);
    Results pauses = of(runs, &RunControls::pause);
    std::erase_if(pauses, [](const ControlResult& result) { return result.truth <= 0.0; });
    if (!pauses.empty()) {
        print_control(out, "control pause", pauses, true);
        print_pooled(out, "pause measured minus true", pauses);
    }
    const Results placebos = of(runs, &RunControls::placebo);
    if (!placebos.empty()) print_control(out, "placebo", placebos, false);
    print_pooled(out, "placebo", placebos);
}

}  // namespace analysis
