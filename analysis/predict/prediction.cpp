// SPDX-License-Identifier: Apache-2.0
#include "analysis/predict/prediction.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

struct Line {
    std::vector<double> levels;  // rising, beginning at 0
    std::vector<double> values;

    double at(double level) const
    {
        const auto above = std::upper_bound(levels.begin(), levels.end(), level);
        if (above == levels.end()) return values.back();
        const auto i = static_cast<std::size_t>(above - levels.begin());
        const double share = (level - levels[i - 1]) / (levels[i] - levels[i - 1]);
        return values[i - 1] + share * (values[i] - values[i - 1]);
    }
};

template <class Value>
Line line_of(const Curve& curve, Value value)
{
    Line line{{0.0}, {0.0}};
    std::vector<double> values;
    for (const MeasuredLevel& point : curve) {
        line.levels.push_back(point.level);
        values.push_back(value(point));
    }
    for (const double fitted : base::isotonic(values)) line.values.push_back(fitted);
    return line;
}

bool one_path(const std::string& stressor)
{
    return stressor.starts_with("memory.") || stressor.starts_with("cache.");
}

Predicted larger(const Predicted& a, const Predicted& b)
{
    Predicted both;
    if (a.percent && b.percent) both.percent = std::max(*a.percent, *b.percent);
    both.low = std::max(a.low, b.low);
    if (a.high && b.high) both.high = std::max(*a.high, *b.high);
    return both;
}

}  // namespace

Predicted predict(const Curve& curve, const NeighbourPressure& pressure)
{
    const Line means = line_of(curve, [](const MeasuredLevel& point) { return point.percent; });
    const Line lows = line_of(curve, [](const MeasuredLevel& point) { return point.interval.low; });
    const Line highs = line_of(curve, [](const MeasuredLevel& point) { return point.interval.high; });
    const double most = curve.back().level;
    Predicted predicted;
    if (!pressure.level || *pressure.level > most) {
        predicted.low = lows.at(std::min(pressure.low, most));
        return predicted;
    }
    const double level = *pressure.level;
    const double mean = means.at(level);
    predicted.percent = mean;
    predicted.low = mean - std::hypot(mean - lows.at(level), mean - means.at(pressure.low));
    if (pressure.high && *pressure.high <= most)
        predicted.high = mean + std::hypot(highs.at(level) - mean, means.at(*pressure.high) - mean);
    return predicted;
}

Predicted together(const std::vector<PredictedPart>& parts)
{
    std::vector<Predicted> added;
    std::optional<Predicted> memory;
    for (const PredictedPart& part : parts) {
        if (!one_path(part.stressor))
            added.push_back(part.predicted);
        else
            memory = memory ? larger(*memory, part.predicted) : part.predicted;
    }
    if (memory) added.push_back(*memory);
    double sum = 0.0;
    double below = 0.0;
    double above = 0.0;
    bool known = true;
    bool ends = true;
    double lows = 0.0;
    for (const Predicted& part : added) {
        known = known && part.percent.has_value();
        ends = ends && part.high.has_value();
        lows += part.low;
        if (!part.percent) continue;
        sum += *part.percent;
        below = std::hypot(below, *part.percent - part.low);
        if (part.high) above = std::hypot(above, *part.high - *part.percent);
    }
    if (!known) return {.percent = {}, .low = lows, .high = {}};
    return {.percent = sum, .low = sum - below, .high = ends ? std::optional{sum + above} : std::nullopt};
}

}  // namespace analysis
