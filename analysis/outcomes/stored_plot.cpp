// SPDX-License-Identifier: Apache-2.0
#include "analysis/outcomes/stored.hpp"
#include "analysis/results/plots/palette.hpp"
#include "base/contract/stored_state.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/programs/gnuplot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace analysis {

namespace {

constexpr const char* stored_gp =
#include "analysis/outcomes/stored.gp.inc"
    ;

// Stressor families whose colours are used for the codes: they differ for any colour vision.
constexpr std::array code_colours{"memory", "io", "network", "control", "cpu", "cache", "capacity", "gpu"};
static_assert(code_colours.size() == base::stored::codes.size());

std::string moment_of(const StoredPoint& point)
{
    if (point.steps == 0) return base::join("inference at step ", point.step);
    return base::join("trained on from step ", point.step, " for ", point.steps);
}

std::string memory_of(const StoredPoint& point)
{
    return base::join("read ", point.reads, ", detection ", point.detect);
}

bool same_panel(const StoredPoint& one, const StoredPoint& other)
{
    return one.model == other.model && one.strategy == other.strategy && one.step == other.step &&
           one.steps == other.steps && one.reads == other.reads && one.detect == other.detect;
}

// Decades that include all rates. A rate of zero has a decade of its own below them.
struct RateRange {
    double low = 0.0;
    double high = -300.0;
    bool zero = false;
};

RateRange rates_of(const std::vector<StoredPoint>& points)
{
    RateRange rates;
    for (const StoredPoint& point : points) {
        rates.zero = rates.zero || point.rate == 0.0;
        if (point.rate == 0.0) continue;
        rates.low = std::min(rates.low, std::floor(std::log10(point.rate)));
        rates.high = std::max(rates.high, std::ceil(std::log10(point.rate)));
    }
    rates.high = std::max(rates.high, rates.low + 1.0);
    if (rates.zero) rates.low -= 1.0;
    return rates;
}

}  // namespace

void write_stored(const std::filesystem::path& file, const std::vector<StoredPoint>& points)
{
    base::CsvWriter table{
        file,
        {"strategy", "store", "detect", "reads", "step", "steps", "rate", "trials", "accuracy", "low", "high", "ruined",
         "ruined_low_percent", "ruined_high_percent", "flipped", "detected", "model"},
        base::CsvWriter::Appear::whole};
    for (const StoredPoint& one : points)
        table.row(one.strategy, one.store, one.detect, one.reads, one.step, one.steps, one.rate, one.trials,
                  one.accuracy, one.interval.low, one.interval.high, one.ruined, one.ruined_percent.low,
                  one.ruined_percent.high, one.flipped, one.detected, one.model);
    table.finish();
}

Plot draw_stored(const std::filesystem::path& folder, const std::vector<StoredPoint>& points)
{
    std::vector<std::string> models;
    std::vector<std::string> moments;
    std::vector<std::string> memories;
    std::vector<double> first_curves;  // first curve of each panel, then the end; curves count from 1
    std::vector<double> codes;         // code of each curve
    std::vector<double> first_rows;    // first row of each curve, then the end; rows of stored.csv count from 0
    for (std::size_t row = 0; row < points.size(); ++row) {
        const StoredPoint& point = points[row];
        const bool new_panel = row == 0 || !same_panel(points[row - 1], point);
        if (new_panel) {
            models.push_back(base::join(point.model, ", ", point.strategy));
            moments.push_back(moment_of(point));
            memories.push_back(memory_of(point));
            first_curves.push_back(static_cast<double>(codes.size() + 1));
        }
        if (!new_panel && points[row - 1].store == point.store) continue;
        const auto* const code = std::find(base::stored::codes.begin(), base::stored::codes.end(), point.store);
        codes.push_back(static_cast<double>(code - base::stored::codes.begin() + 1));
        first_rows.push_back(static_cast<double>(row));
    }
    first_curves.push_back(static_cast<double>(codes.size() + 1));
    first_rows.push_back(static_cast<double>(points.size()));
    std::vector<std::string> colours;
    for (const char* family : code_colours) colours.push_back(colour(family, 0).light);
    const RateRange rates = rates_of(points);
    base::GnuplotVariables variables;
    variables.set("panels", models.size());
    variables.set("models", models);
    variables.set("moments", moments);
    variables.set("memories", memories);
    variables.set("first_curve", first_curves);
    variables.set("code", codes);
    variables.set("first_row", first_rows);
    variables.set("names", std::vector<std::string>(base::stored::codes.begin(), base::stored::codes.end()));
    variables.set("colours", colours);
    variables.set("low", rates.low);
    variables.set("high", rates.high);
    variables.set("with_zero", rates.zero ? 1 : 0);
    constexpr int row_mm = 60;
    constexpr int page_mm = 250;
    Plot plot{.name = "stored",
              .title = "Stored weights",
              .caption = "Dots: mean accuracy of the trials, with its 95 % interval, at each bit error rate of a read.",
              .paper_mm = std::min(page_mm, row_mm * static_cast<int>((models.size() + 1) / 2))};
    plot.data = {"stored.csv"};
    plot.drawn = base::draw("interference", folder, plot.name, variables, stored_gp);
    return for_people(folder, plot);
}

}  // namespace analysis
