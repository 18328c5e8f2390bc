#include "analysis/outcomes/stored.hpp"

#include "analysis/report/numbers.hpp"
#include "base/error.hpp"
#include "base/markup.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace analysis {

namespace {

constexpr int panel_width = 640;
constexpr int panel_height = 300;
constexpr int plot_left = 60;
constexpr int plot_right = 500;
constexpr int plot_top = 40;
constexpr int plot_bottom = 250;

// Apart for any colour vision (Okabe and Ito).
constexpr std::array curve_colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                   "#7a7000", "#7b3fa0", "#56b4e9", "#8c510a"};

StoredPoint point_of(const std::vector<const ClassedTrial*>& trials, ProportionInterval kind)
{
    const ClassedTrial& first = *trials.front();
    StoredPoint point{.strategy = first.strategy,
                      .store = first.trial.store,
                      .detect = first.trial.detect,
                      .reads = first.trial.reads,
                      .step = first.trial.step,
                      .steps = first.trial.steps,
                      .rate = first.trial.rate,
                      .trials = static_cast<std::int64_t>(trials.size())};
    std::vector<double> accuracies;
    const auto count = static_cast<double>(trials.size());
    for (const ClassedTrial* one : trials) {
        accuracies.push_back(one->outcome.accuracy.value_or(0.0));
        point.accuracy += accuracies.back() / count;
        point.ruined += is_ruined(one->what) ? 1 : 0;
        point.flipped += static_cast<double>(one->outcome.flipped.value_or(0)) / count;
        point.detected += static_cast<double>(one->outcome.detected.value_or(0)) / count;
    }
    constexpr double confidence = 0.95;
    point.interval = trials.size() > 1 ? base::mean_of(accuracies).interval(confidence) : base::Interval{0.0, 1.0};
    point.interval = {std::clamp(point.interval.low, 0.0, 1.0), std::clamp(point.interval.high, 0.0, 1.0)};
    point.ruined_percent = kind == ProportionInterval::wilson
                               ? base::wilson(static_cast<double>(point.ruined), count, confidence)
                               : base::clopper_pearson(static_cast<double>(point.ruined), count, confidence);
    point.ruined_percent = {100.0 * point.ruined_percent.low, 100.0 * point.ruined_percent.high};
    return point;
}

using Panel = std::tuple<std::string, std::int64_t, std::int64_t, std::string, std::string>;

Panel panel_of(const StoredPoint& point)
{
    return {point.strategy, point.step, point.steps, point.reads, point.detect};
}

std::string title_of(const StoredPoint& point)
{
    const std::string how = point.steps == 0 ? base::join("inference at step ", point.step)
                                             : base::join("trained on from step ", point.step, " for ", point.steps);
    return base::join("Accuracy, ", point.strategy, ", ", how, ", read ", point.reads, ", detection ", point.detect);
}

// Rates from the least to the largest decade; without flips at the left edge.
class RateAxis {
 public:
    explicit RateAxis(const std::vector<StoredPoint>& points)
    {
        for (const StoredPoint& point : points)
            if (point.rate > 0.0) {
                low_ = std::min(low_, std::floor(std::log10(point.rate)));
                high_ = std::max(high_, std::ceil(std::log10(point.rate)));
            }
        if (high_ <= low_) high_ = low_ + 1.0;
    }
    double x(double rate) const
    {
        const double at = rate > 0.0 ? (std::log10(rate) - low_) / (high_ - low_) : 0.0;
        return plot_left + at * (plot_right - plot_left);
    }
    std::string drawn() const
    {
        std::string all;
        for (auto decade = static_cast<int>(low_); decade <= static_cast<int>(high_); ++decade)
            all += base::join("<text x='", fixed(x(std::pow(10.0, decade)), 1), "' y='", plot_bottom + 16,
                              "' text-anchor='middle'>1e", decade, "</text>\n");
        return all + base::join("<text x='", (plot_left + plot_right) / 2, "' y='", plot_bottom + 36,
                                "' text-anchor='middle'>bit error rate of a read</text>\n");
    }

 private:
    double low_ = 0.0;
    double high_ = -300.0;
};

double height_of(double accuracy)
{
    return plot_bottom - accuracy * (plot_bottom - plot_top);
}

std::string curve(const std::vector<const StoredPoint*>& points, const RateAxis& axis, std::size_t number)
{
    std::string line;
    std::string marks;
    for (const StoredPoint* point : points) {
        const std::string x = fixed(axis.x(point->rate), 1);
        line += x + "," + fixed(height_of(point->accuracy), 1) + " ";
        marks += base::join("<circle cx='", x, "' cy='", fixed(height_of(point->accuracy), 1), "' r='2.5'/><path d='M",
                            x, " ", fixed(height_of(point->interval.low), 1), " V",
                            fixed(height_of(point->interval.high), 1), "' stroke-width='1'/>\n");
    }
    const char* const colour = curve_colours.at(number % curve_colours.size());
    const auto y = plot_top + 8 + 18 * static_cast<int>(number);
    return base::join("<g fill='", colour, "' stroke='", colour, "'><polyline fill='none' stroke-width='2' points='",
                      line, "'/>\n", marks, "<path d='M", plot_right + 14, " ", y,
                      " h18' stroke-width='3'/></g><text x='", plot_right + 38, "' y='", y + 4, "'>",
                      base::escape_markup(points.front()->store), "</text>\n");
}

std::string drawn_panel(const std::vector<StoredPoint>& points)
{
    const RateAxis axis{points};
    std::map<std::string, std::vector<const StoredPoint*>> curves;
    for (const StoredPoint& point : points) curves[point.store].push_back(&point);
    std::string body = axis.drawn();
    for (const int percent : {0, 25, 50, 75, 100}) {
        const std::string y = fixed(height_of(percent / 100.0), 1);
        body += base::join("<path d='M", plot_left, " ", y, " H", plot_right,
                           "' stroke='currentColor' stroke-opacity='0.2'/><text x='", plot_left - 6, "' y='", y,
                           "' dy='4' text-anchor='end'>", percent, " %</text>\n");
    }
    std::size_t number = 0;
    for (const auto& [store, here] : curves) body += curve(here, axis, number++);
    const std::string title = title_of(points.front());
    return base::join("<figure tabindex='0'><svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 ", panel_width, " ",
                      panel_height, "' width='", panel_width,
                      "' role='img' font-family='sans-serif' font-size='12' "
                      "fill='currentColor'><title>",
                      base::escape_markup(title), "</title>\n<text x='", plot_left, "' y='20'>",
                      base::escape_markup(title), "</text>\n", body, "</svg></figure>\n");
}

}  // namespace

std::vector<StoredPoint> stored_points(const OutcomeReport& report)
{
    std::map<std::tuple<Panel, std::string, double>, std::vector<const ClassedTrial*>> groups;
    for (const ClassedTrial& one : report.trials) {
        const base::Trial& trial = one.trial;
        if (trial.kind == base::trial_kind::stored)
            groups[{Panel{one.strategy, trial.step, trial.steps, trial.reads, trial.detect}, trial.store, trial.rate}]
                .push_back(&one);
    }
    std::vector<StoredPoint> points;
    for (const auto& [group, trials] : groups) points.push_back(point_of(trials, report.interval));
    return points;
}

std::string stored_curves(const std::vector<StoredPoint>& points)
{
    std::string all;
    for (auto first = points.begin(); first != points.end();) {
        const auto last = std::find_if(first, points.end(),
                                       [&](const StoredPoint& point) { return panel_of(point) != panel_of(*first); });
        all += drawn_panel({first, last});
        first = last;
    }
    return all;
}

}  // namespace analysis
