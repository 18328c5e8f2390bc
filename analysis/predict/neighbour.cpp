// SPDX-License-Identifier: Apache-2.0
#include "analysis/predict/neighbour.hpp"

#include "analysis/results/record.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace analysis {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double confidence_percent = 95.0;

// Reads the JSON file with `read`. Throws an Error that names the file if a member is missing or has another type.
template <class Read>
auto read_as_written(const fs::path& file, Read read)
try {
    return read(base::read_json(file));
} catch (const nlohmann::json::exception& error) {
    base::fail(file.string(), " is invalid: ", error.what());
}

std::optional<double> number_or_none(const Json& json, const char* member)
{
    const Json& value = json.at(member);
    return value.is_null() ? std::nullopt : std::optional{value.get<double>()};
}

NeighbourPressure pressure_in(const Json& json)
{
    NeighbourPressure pressure{.stressor = json.at("stressor").get<std::string>(),
                               .unit = json.at("unit").get<std::string>(),
                               .felt = json.at("felt").get<bool>(),
                               .level = number_or_none(json, "level"),
                               .low = json.at("low").get<double>(),
                               .high = number_or_none(json, "high")};
    const double level = pressure.level.value_or(pressure.low);
    if (pressure.low < 0.0 || level < pressure.low || pressure.high.value_or(level) < level)
        base::fail("the interval of ", pressure.stressor, " does not contain its level");
    return pressure;
}

struct Rates {
    double bytes_per_s = 0.0;
    double operations_per_s = 0.0;
};

// Achieved rates of a level of a factor, by run and host. Processes on a node add up; nodes do not.
using OfNodes = std::map<std::pair<fs::path, std::string>, Rates>;
using ReachedBy = std::map<std::pair<std::string, std::string>, OfNodes>;  // by factor and level

double mean_level(const OfNodes& nodes)
{
    Rates sum;
    for (const auto& [node, rates] : nodes) {
        sum.bytes_per_s += rates.bytes_per_s;
        sum.operations_per_s += rates.operations_per_s;
    }
    return (sum.bytes_per_s > 0.0 ? sum.bytes_per_s : sum.operations_per_s) / static_cast<double>(nodes.size());
}

void add_record(ReachedBy& reached, const fs::path& run, const Json& record)
{
    for (const Json& level : record.at("factor_levels")) {
        OfNodes& nodes = reached[{level.at("factor").get<std::string>(), level.value("level", std::string{})}];
        Rates& rates = nodes[{run, record.at("host").get<std::string>()}];
        static_cast<void>(level.at("bytes_per_s").get<double>());  // throws if the file is not a record of noise
        static_cast<void>(level.at("operations_per_s").get<double>());
        rates.bytes_per_s += dose_in(level, "bytes");
        rates.operations_per_s += dose_in(level, "operations");
    }
}

// True for a level such as "rate=4GiB/s" alone, or an empty one.
bool is_a_rate(const std::string& level)
{
    return level.empty() || (level.starts_with("rate=") && level.find(',') == std::string::npos);
}

void add_row(MeasuredCurves& measured, const base::CsvTable& table, std::size_t row, const ReachedBy& reached)
{
    const std::string factor = table.text(row, "factor");
    const std::string level = table.text(row, "level");
    const auto found = reached.find({factor, level});
    if (found == reached.end() || !is_a_rate(level)) {
        measured.notes.push_back(base::factor_name(factor, level) +
                                 (is_a_rate(level) ? " is in no record of the noise" : " is not a rate") +
                                 ", so it is left out");
        return;
    }
    auto curve = std::find_if(measured.curves.begin(), measured.curves.end(),
                              [&](const MeasuredCurve& known) { return known.factor == factor; });
    if (curve == measured.curves.end()) {
        measured.curves.push_back({factor, table.text(row, "stressor"), {}});
        curve = measured.curves.end() - 1;
    }
    const MeasuredLevel point{mean_level(found->second),
                              table.get<double>(row, "effect_percent"),
                              {table.get<double>(row, "low_percent"), table.get<double>(row, "high_percent")}};
    if (point.level > 0.0 && std::isfinite(point.percent + point.interval.low + point.interval.high))
        curve->curve.push_back(point);
}

}  // namespace

Neighbour read_neighbour(const fs::path& file)
{
    return read_as_written(file, [&](const Json& json) {
        if (!json.contains("pressures"))
            base::fail(file.string(),
                       " holds no pressures; measure them with: noisegen probe --command WORDS --out OUT");
        Neighbour neighbour{.command = json.at("command").get<std::string>(),
                            .host = json.at("host").get<std::string>(),
                            .cpus = json.at("noise_cpus").get<std::string>(),
                            .pressures = {}};
        for (const Json& pressure : json.at("pressures")) neighbour.pressures.push_back(pressure_in(pressure));
        return neighbour;
    });
}

MeasuredCurves read_curves(const fs::path& report, std::span<const fs::path> noise_records)
{
    const fs::path verdict = report / base::file::verdict;
    if (!fs::exists(verdict))
        base::fail("there is no ", verdict.string(), "; make the report with: interference analyse ",
                   base::shell_word(report.parent_path().string()));
    MeasuredCurves measured;
    read_as_written(verdict, [&](const Json& json) {
        if (const auto confidence = json.at("confidence_percent").get<double>();
            std::abs(confidence - confidence_percent) > 1e-6)
            base::fail(verdict.string(), " has intervals of ", confidence, " %; predictions need those of 95 %");
        measured.quiet_step_ms = json.at("quiet_step_ms").get<double>();
        measured.trustworthy = json.at("trustworthy").get<bool>();
    });
    ReachedBy reached;
    std::set<std::string> hosts;
    for (const fs::path& file : noise_records)
        read_as_written(file, [&](const Json& json) {
            hosts.insert(json.at("host").get<std::string>());
            add_record(reached, file.parent_path().parent_path(), json);
        });
    measured.hosts = {hosts.begin(), hosts.end()};
    const base::CsvTable table{report / base::file::verdicts};
    table.refuse_cut_off();
    for (std::size_t row = 0; row < table.rows(); ++row) add_row(measured, table, row, reached);
    std::erase_if(measured.curves, [](const MeasuredCurve& curve) { return curve.curve.empty(); });
    for (MeasuredCurve& curve : measured.curves)
        std::sort(curve.curve.begin(), curve.curve.end(),
                  [](const MeasuredLevel& a, const MeasuredLevel& b) { return a.level < b.level; });
    return measured;
}

std::vector<PredictedPart> predict_parts(const MeasuredCurves& measured, const Neighbour& neighbour,
                                         std::vector<std::string>& notes)
{
    std::vector<PredictedPart> parts;
    for (const NeighbourPressure& pressure : neighbour.pressures) {
        const auto of_stressor = [&](const MeasuredCurve& curve) { return curve.stressor == pressure.stressor; };
        const auto found = std::find_if(measured.curves.begin(), measured.curves.end(), of_stressor);
        const auto others = std::count_if(measured.curves.begin(), measured.curves.end(), of_stressor);
        if (found == measured.curves.end())
            notes.push_back(pressure.stressor + " was not measured with this training: its path is excluded");
        else if (!pressure.felt)
            notes.push_back("the probe's victim was not slowed by " + pressure.stressor + ": its path is excluded");
        else
            parts.push_back({pressure.stressor, predict(found->curve, pressure)});
        if (others > 1)
            notes.push_back("several factors use " + pressure.stressor + "; the first is taken: " + found->factor);
        if (found != measured.curves.end() && found->curve.size() == 1)
            notes.push_back(pressure.stressor +
                            " had one level in this training's run: assuming a straight line from zero");
    }
    return parts;
}

}  // namespace analysis
