// SPDX-License-Identifier: Apache-2.0
#include "analysis/predict/tables.hpp"

#include "analysis/results/numbers.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace analysis {

namespace {

constexpr double shown_confidence = 0.95;

std::string cell(const std::optional<double>& value)
{
    return value ? base::format(*value) : std::string{};
}

std::optional<double> low_of(const std::optional<Interval>& interval)
{
    return interval ? std::optional{interval->low} : std::nullopt;
}

std::optional<double> high_of(const std::optional<Interval>& interval)
{
    return interval ? std::optional{interval->high} : std::nullopt;
}

std::string amount(const std::string& unit, double level)
{
    if (level <= 0.0) return "0";
    return unit == "bytes/s" ? base::speed_text(level) : base::operations_text(level);
}

const NeighbourPressure& pressure_of(const Neighbour& neighbour, const std::string& stressor)
{
    return *std::find_if(neighbour.pressures.begin(), neighbour.pressures.end(),
                         [&](const NeighbourPressure& pressure) { return pressure.stressor == stressor; });
}

double measured_to(const MeasuredCurves& measured, const std::string& stressor)
{
    return std::find_if(measured.curves.begin(), measured.curves.end(),
                        [&](const MeasuredCurve& curve) { return curve.stressor == stressor; })
        ->curve.back()
        .level;
}

std::string interval_text(const Predicted& predicted)
{
    if (!predicted.percent) return "outside the measured range";
    if (predicted.high) return range({predicted.low, *predicted.high});
    return fixed(predicted.low, 2) + " % to outside the measured range";
}

std::string slowdown_text(const Predicted& predicted)
{
    return predicted.percent ? signed_percent(*predicted.percent) : std::string{"-"};
}

void print_notes(std::ostream& out, const std::vector<std::string>& notes)
{
    for (const std::string& note : notes) out << base::printable(note) << "\n";
}

std::string ms(double value)
{
    return fixed(value, value < 99.95 ? 2 : 1) + " ms";
}

}  // namespace

PredictionLines lines_of(const NeighbourPrediction& prediction)
{
    PredictionLines lines{{"presses as", "at", "measured to", "slowdown", "95 % interval"}};
    for (const PredictedPart& part : prediction.parts) {
        const NeighbourPressure& pressure = pressure_of(prediction.neighbour, part.stressor);
        lines.push_back({part.stressor, pressure.level ? amount(pressure.unit, *pressure.level) : "beyond the probe",
                         amount(pressure.unit, measured_to(prediction.measured, part.stressor)),
                         slowdown_text(part.predicted), interval_text(part.predicted)});
    }
    if (!prediction.parts.empty()) {
        const Predicted all = together(prediction.parts);
        lines.push_back({"together", "", "", slowdown_text(all), interval_text(all)});
    }
    return lines;
}

void print(std::ostream& out, const NeighbourPrediction& prediction)
{
    out << base::printable(prediction.neighbour.command) << " beside the training of "
        << base::printable(prediction.directory) << " (quiet step " << ms(prediction.measured.quiet_step_ms)
        << "), predicted\n";
    out << base::table_text(lines_of(prediction), 1);
    print_notes(out, prediction.notes);
    out << "Assumed: memory and cache are one path, on which the larger slowdown counts, and others add up; the\n"
           "neighbour exerts the same pressure as on CPUs "
        << base::printable(prediction.neighbour.cpus) << " of " << base::printable(prediction.neighbour.host)
        << ", noise was on " << base::printable(base::join_words(prediction.measured.hosts, ", ")) << ".\n";
    if (!prediction.measured.trustworthy)
        out << "The training's report is not trustworthy, so this prediction is not either.\n";
}

PredictionLines lines_of(const Projection& projection)
{
    PredictionLines lines{{"noise", "ranks", "step", "95 % interval", "slowdown", "95 % interval", "amplified", "slack",
                           "absorbed", "tail"}};
    for (const ProjectedRow& row : projection.rows) {
        const std::optional<Interval> step = step_interval(row, shown_confidence);
        const std::optional<Interval> slowdown = slowdown_interval(row, shown_confidence);
        lines.push_back({row.treatment, std::to_string(row.ranks), ms(row.step_ms),
                         step ? ms(step->low) + " to " + ms(step->high) : "none",
                         row.slowdown_percent ? signed_percent(*row.slowdown_percent) : "",
                         slowdown               ? range(*slowdown)
                         : row.slowdown_percent ? "none"
                                                : "",
                         row.amplification ? fixed(*row.amplification, 2) : "", ms(row.at.slack_ms),
                         fixed(row.at.absorbed_percent, 0) + " %",
                         row.at.beyond_data ? "alone" : fixed(row.at.tail_shape, 2)});
    }
    return lines;
}

void print(std::ostream& out, const Projection& projection)
{
    const MeasuredTimes& measured = projection.measured;
    const OwnTimes& quiet = measured.treatments.front().times;
    out << base::printable(projection.directory) << ": a projection from " << measured.ranks << " rank"
        << (measured.ranks == 1 ? "" : "s") << " on " << measured.nodes << " node" << (measured.nodes == 1 ? "" : "s")
        << ", to " << projection.ranks_per_node << " a node\n";
    out << base::table_text(lines_of(projection), 1);
    out << "amplified: slowdown of the step divided by that of a rank's own work. slack: mean wait of a rank for the\n"
           "last one. absorbed: the part of a rank's delay, by a standard deviation of its own work, that the step "
           "hides.\n"
           "tail: the slowest tenth, or hundred, of the steps on a node have a fitted generalised Pareto tail of this\n"
           "shape; alone: more nodes than measured steps, so only the fitted tail is used.\n"
           "Assumed: nodes are alike, independent, and vary as the measured ones did; their ranks have "
        << fixed(100.0 * correlation_inside_nodes(quiet), 0)
        << " % of the\nvariance in common; the time after the last rank's work ("
        << ms(quiet.rest_ms.dot(quiet.weight) / quiet.weight.sum()) << ", transfer included) stays as it was on "
        << measured.ranks << " rank" << (measured.ranks == 1 ? "" : "s") << ".\n";
    if (projection.ranks_per_node > measured.ranks_per_node)
        out << "More ranks per node than measured: their own parts are resampled, which is less certain.\n";
    std::set<std::string> why;
    for (const ProjectedRow& row : projection.rows)
        if (!row.no_interval.empty()) why.insert(row.no_interval);
    for (const std::string& one : why) out << "No interval: " << base::printable(one) << ".\n";
    print_notes(out, measured.notes);
}

void write_csv(const std::filesystem::path& file, const NeighbourPrediction& prediction)
{
    base::CsvWriter table{file,
                          {"stressor", "unit", "pressure", "pressure_low", "pressure_high", "slowdown_percent",
                           "low_percent", "high_percent", "measured_to"},
                          base::CsvWriter::Appear::whole};
    for (const PredictedPart& part : prediction.parts) {
        const NeighbourPressure& pressure = pressure_of(prediction.neighbour, part.stressor);
        table.row(part.stressor, pressure.unit, cell(pressure.level), pressure.low, cell(pressure.high),
                  cell(part.predicted.percent), part.predicted.low, cell(part.predicted.high),
                  measured_to(prediction.measured, part.stressor));
    }
    if (!prediction.parts.empty()) {
        const Predicted all = together(prediction.parts);
        table.row("together", "", "", "", "", cell(all.percent), all.low, cell(all.high), "");
    }
    table.finish();
}

void write_csv(const std::filesystem::path& file, const Projection& projection)
{
    base::CsvWriter table{file,
                          {"treatment", "ranks", "ranks_per_node", "step_ms", "step_low_ms", "step_high_ms",
                           "slowdown_percent", "low_percent", "high_percent", "amplification", "own_ms", "slack_ms",
                           "absorbed_percent", "tail_shape", "beyond_data"},
                          base::CsvWriter::Appear::whole};
    for (const ProjectedRow& row : projection.rows) {
        const std::optional<Interval> step = step_interval(row, shown_confidence);
        const std::optional<Interval> slowdown = slowdown_interval(row, shown_confidence);
        table.row(row.treatment, row.ranks, std::min(row.ranks, projection.ranks_per_node), row.step_ms,
                  cell(low_of(step)), cell(high_of(step)), cell(row.slowdown_percent), cell(low_of(slowdown)),
                  cell(high_of(slowdown)), cell(row.amplification), row.at.own_ms, row.at.slack_ms,
                  row.at.absorbed_percent, row.at.tail_shape, row.at.beyond_data ? 1 : 0);
    }
    table.finish();
}

}  // namespace analysis
