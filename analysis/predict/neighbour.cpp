#include "analysis/predict/neighbour.hpp"

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

// Reads by `read`; what is missing or of another kind is an error that names the file.
template <class Read>
auto read_as_written(const fs::path& file, Read read)
try {
    return read(base::read_json(file));
} catch (const nlohmann::json::exception& error) {
    base::fail(file.string(), " is not as it is written: ", error.what());
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
        base::fail("the interval of ", pressure.stressor, " does not hold its level");
    return pressure;
}

// What a level of a factor reached on each node.
struct Reached {
    std::vector<double> bytes;
    std::vector<double> operations;

    static double mean(const std::vector<double>& values)
    {
        double sum = 0.0;
        for (const double value : values) sum += value;
        return sum / static_cast<double>(values.size());
    }
    double level() const { return mean(bytes) > 0.0 ? mean(bytes) : mean(operations); }
};

using ReachedBy = std::map<std::pair<std::string, std::string>, Reached>;  // by factor and level

void add_record(ReachedBy& reached, std::set<std::string>& hosts, const Json& record)
{
    hosts.insert(record.at("host").get<std::string>());
    for (const Json& level : record.at("factor_levels")) {
        Reached& one = reached[{level.at("factor").get<std::string>(), level.value("level", std::string{})}];
        one.bytes.push_back(level.at("bytes_per_s").get<double>());
        one.operations.push_back(level.at("operations_per_s").get<double>());
    }
}

// "rate=4GiB/s" alone, or nothing.
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
                                 (is_a_rate(level) ? " is in no record of the noise" : " is no rate") +
                                 ", so it is left out");
        return;
    }
    auto curve = std::find_if(measured.curves.begin(), measured.curves.end(),
                              [&](const MeasuredCurve& known) { return known.factor == factor; });
    if (curve == measured.curves.end()) {
        measured.curves.push_back({factor, table.text(row, "stressor"), {}});
        curve = measured.curves.end() - 1;
    }
    const MeasuredLevel point{found->second.level(),
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
                       " holds no pressures; they are measured by: noisegen probe --command WORDS --out OUT");
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
        read_as_written(file, [&](const Json& json) { add_record(reached, hosts, json); });
    measured.hosts = {hosts.begin(), hosts.end()};
    const base::CsvTable table{report / base::file::verdicts};
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
            notes.push_back(pressure.stressor + " was not beside this training: what presses on its path is left out");
        else if (!pressure.felt)
            notes.push_back("the probe's victim did not feel " + pressure.stressor + ": its path is left out");
        else
            parts.push_back({pressure.stressor, predict(found->curve, pressure)});
        if (others > 1)
            notes.push_back("of several factors with " + pressure.stressor + " the first counts: " + found->factor);
        if (found != measured.curves.end() && found->curve.size() == 1)
            notes.push_back(pressure.stressor +
                            " had one level beside this training: a straight line is taken from none to it");
    }
    return parts;
}

}  // namespace analysis
