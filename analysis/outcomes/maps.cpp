// SPDX-License-Identifier: Apache-2.0
#include "analysis/outcomes/maps.hpp"

#include "analysis/outcomes/strata.hpp"
#include "analysis/results/numbers.hpp"
#include "base/error.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <charconv>
#include <compare>
#include <iterator>
#include <map>
#include <optional>
#include <set>

namespace analysis {

namespace {

constexpr int row_height = 18;
constexpr int bar_width = 400;
constexpr int beside_bars = 280;

// Key that sorts "2" before "10".
std::string in_order(const std::string& text)
{
    const bool number = !text.empty() && text.size() < 3 && text.find_first_not_of("0123456789") == std::string::npos;
    return number ? std::string(3 - text.size(), '0') + text : text;
}

// The number of a bit; none for "several".
std::optional<int> number_of(const std::string& bit)
{
    int number = 0;
    const auto [end, error] = std::from_chars(bit.data(), bit.data() + bit.size(), number);
    return error == std::errc{} && end == bit.data() + bit.size() ? std::optional{number} : std::nullopt;
}

template <class Of, class Step>
std::vector<MapRow> map_of(const OutcomeReport& report, const PopulationOf& population_of, Of of, Step step)
{
    struct Group {
        std::string strategy;
        std::string target;
        std::int64_t flips = 1;
        std::string of;  // key from in_order()
        std::int64_t step = -1;
        auto operator<=>(const Group&) const = default;
    };
    std::map<Group, std::vector<WeightedTrial>> groups;
    std::map<std::string, std::string> names;
    for (const WeightedTrial& weighted : weighed(left_to_themselves(report.trials), population_of)) {
        const ClassedTrial& one = *weighted.trial;
        const std::string name = of(one);
        names[in_order(name)] = name;
        groups[{one.strategy, one.trial.target, one.trial.count, in_order(name), step(one)}].push_back(weighted);
    }
    std::vector<MapRow> rows;
    for (const auto& [group, here] : groups)
        rows.push_back({group.strategy, group.target, names.at(group.of), "", group.flips, group.step,
                        share_of(
                            here, [](const ClassedTrial& one) { return is_ruined(one.what); }, report.interval)});
    return rows;
}

std::string text_at(int x, int y, const std::string& text, const char* anchor = "start")
{
    return base::join("<text x='", x, "' y='", y, "' text-anchor='", anchor, "'>", base::escape_markup(text),
                      "</text>\n");
}

std::string drawing(int width, int height, const std::string& title, const std::string& body)
{
    return base::join("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 ", width, " ", height, "' width='", width,
                      "' height='", height, "' style='max-width:", width,
                      "px' role='img' font-family='sans-serif' font-size='12' fill='currentColor'>", "<title>",
                      base::escape_markup(title), "</title>\n", body, "</svg>\n");
}

// Width of the labels next to the rows, for the longest of them.
int label_width(std::size_t longest)
{
    constexpr std::size_t shortest = 15;
    constexpr int letter = 8;
    return letter * static_cast<int>(std::max(longest, shortest)) + 12;
}

int along(double percent)
{
    return static_cast<int>(percent / 100.0 * bar_width);
}

// Number of exponent bits of a target's numbers: 8 for float32, 11 for float64; 0 if it seems to have tensors of both
// types. Outcomes do not name the type, so a tensor in which no bit above 31 ever flipped counts as float32.
int exponent_bits(const OutcomeReport& report, const std::string& target)
{
    std::map<std::string, bool> is_double;
    for (const ClassedTrial& one : report.trials)
        if (one.trial.kind == base::trial_kind::trial && one.trial.target == target)
            if (const std::optional<int> bit = number_of(one.bit))
                is_double[one.location] = is_double[one.location] || *bit > 31;
    const auto doubles =
        std::count_if(is_double.begin(), is_double.end(), [](const auto& tensor) { return tensor.second; });
    if (doubles == 0) return 8;
    return static_cast<std::size_t>(doubles) == is_double.size() ? 11 : 0;
}

// Role of a bit, which is counted from the left.
std::string role_of(const std::string& bit, int exponent)
{
    const std::optional<int> number = number_of(bit);
    if (!number || exponent == 0) return "";
    return *number == 0 ? "sign" : *number <= exponent ? "exponent" : "fraction";
}

std::string group_of(const MapRow& row)
{
    return base::join(row.strategy, ", ", row.target);
}

}  // namespace

std::vector<ClassShare> in_front(const OutcomeReport& report)
{
    const auto of_number = [](const ClassShare& one) { return one.flips != 0; };
    const bool several = std::any_of(report.shares.begin(), report.shares.end(), of_number);
    std::vector<ClassShare> found;
    for (const ClassShare& one : report.shares)
        if (one.location == "all" && one.bit == "all" && of_number(one) == several) found.push_back(one);
    return found;
}

std::string altered(const ClassShare& one)
{
    return one.flips == 0 ? one.target
                          : base::join(one.target, ", ", counted(static_cast<std::size_t>(one.flips), "flip"));
}

std::string label(const MapRow& row)
{
    const std::string of = row.role.empty() ? row.of : base::join(row.of, ", ", row.role);
    return row.flips == 1 ? of : base::join(of, ", ", row.flips, " flips");
}

std::string count_text(const ClassShare& share)
{
    return base::join(share.count, " of ", counted(static_cast<std::size_t>(share.trials), "trial"));
}

std::string share_text(const ClassShare& share, int digits)
{
    return fixed(share.percent, digits) + (share.is_weighted ? " % of all flips" : " %");
}

std::string interval_text(const ClassShare& share)
{
    return share.trials == 1 ? "no interval for one trial" : range(share.percent_interval);
}

std::vector<MapRow> bit_map(const OutcomeReport& report)
{
    std::vector<MapRow> rows = map_of(
        report, per_flips, [](const ClassedTrial& one) { return one.bit; },
        [](const ClassedTrial&) { return std::int64_t{-1}; });
    std::map<std::string, int> exponents;  // by target: exponent bits of its numbers
    for (const std::string target : {"model", "optimizer", "both"}) exponents[target] = exponent_bits(report, target);
    for (MapRow& row : rows) row.role = role_of(row.of, exponents[row.target]);
    return rows;
}

std::vector<MapRow> layer_map(const OutcomeReport& report)
{
    return map_of(
        report, per_flips, [](const ClassedTrial& one) { return one.location; },
        [](const ClassedTrial&) { return std::int64_t{-1}; });
}

std::vector<MapRow> layer_step_map(const OutcomeReport& report)
{
    return map_of(
        report, per_step, [](const ClassedTrial& one) { return one.location; },
        [](const ClassedTrial& one) { return one.trial.step; });
}

namespace {

struct Bar {
    std::string group;
    std::string label;
    ClassShare share;
};

std::string drawing_of(const std::vector<Bar>& bars, const std::string& title, const std::string& caption)
{
    std::size_t longest = 0;
    for (const Bar& bar : bars) longest = std::max(longest, bar.label.size());
    const int left = label_width(longest);
    std::string body;
    int y = row_height;
    std::string group;
    for (const Bar& bar : bars) {
        if (bar.group != group) {
            group = bar.group;
            body += text_at(4, y, group);
            y += row_height;
        }
        const base::Interval& interval = bar.share.percent_interval;
        body += text_at(left - 6, y, bar.label, "end");
        body += base::join("<rect x='", left, "' y='", y - 11, "' width='", along(bar.share.percent),
                           "' height='12' fill='var(--memory-0,#0072b2)'/>\n");
        if (bar.share.trials > 1)
            body += base::join("<line x1='", left + along(interval.low), "' x2='", left + along(interval.high),
                               "' y1='", y - 5, "' y2='", y - 5, "' stroke='currentColor'/>\n");
        body += text_at(left + bar_width + 6, y, base::join(count_text(bar.share), ", ", share_text(bar.share, 1)));
        y += row_height;
    }
    body += text_at(left, y + 6, caption);
    return drawing(left + bar_width + beside_bars, y + row_height, title, body);
}

}  // namespace

std::string bars(const std::vector<MapRow>& rows, const std::string& title)
{
    std::vector<Bar> all;
    for (const MapRow& row : rows) all.push_back({group_of(row), label(row), row.ruined});
    return drawing_of(all, title, "ruined, share of trials with its 95 % interval (0 to 100 %)");
}

std::string class_bars(const std::vector<ClassShare>& shares)
{
    std::vector<Bar> all;
    for (const ClassShare& share : shares)
        if (share.count > 0) all.push_back({base::join(share.strategy, ", ", altered(share)), share.what, share});
    return drawing_of(all, "Outcomes of trials", "share of trials with its 95 % interval (0 to 100 %)");
}

std::string squares(const std::vector<MapRow>& rows, const std::string& title)
{
    constexpr int square = 56;
    std::set<std::int64_t> steps;
    std::size_t longest = 0;
    for (const MapRow& row : rows) {
        steps.insert(row.step);
        longest = std::max(longest, group_of(row).size() + 2 + label(row).size());
    }
    const int left = label_width(longest);
    const auto column = [&](std::int64_t step) {
        return left + static_cast<int>(std::distance(steps.begin(), steps.find(step))) * square;
    };
    std::string body;
    for (const std::int64_t step : steps)
        body += text_at(column(step) + square / 2, 14, base::join("step ", step), "middle");
    std::map<std::string, int> lines;
    int y = 2 * row_height;
    for (const MapRow& row : rows) {
        const std::string line = base::join(group_of(row), ", ", label(row));
        if (lines.try_emplace(line, y).second) {
            body += text_at(left - 6, y, line, "end");
            y += row_height;
        }
        const int at = lines.at(line);
        body += base::join("<rect x='", column(row.step), "' y='", at - 13, "' width='", square - 2, "' height='",
                           row_height - 2, "' fill='var(--memory-0,#0072b2)' fill-opacity='",
                           fixed(0.04 + 0.56 * row.ruined.percent / 100.0, 2), "'><title>Ruined ",
                           count_text(row.ruined), ", ", share_text(row.ruined, 1), "</title></rect>\n");
        body += text_at(column(row.step) + square / 2, at, fixed(row.ruined.percent, 0), "middle");
    }
    body += text_at(left, y + 6, "ruined, share of trials in %, by the step of the flip");
    const int width = std::max(static_cast<int>(steps.size()) * square, bar_width);
    return drawing(left + width + 20, y + row_height, title, body);
}

}  // namespace analysis
