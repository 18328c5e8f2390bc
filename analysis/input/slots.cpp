// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/slots.hpp"

#include "base/contract/factor_name.hpp"
#include "base/contract/roles.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace analysis {

Design parse_design(const std::string& text)
{
    if (text == "sequence") return Design::sequence;
    if (text == "rotation") return Design::rotation;
    if (text == "factorial") return Design::factorial;
    base::fail("'", text, "' is not a design of a schedule (sequence, rotation, factorial)");
}

std::vector<TimeSpan> merged(std::vector<TimeSpan> stretches)
{
    std::sort(stretches.begin(), stretches.end(),
              [](const TimeSpan& a, const TimeSpan& b) { return a.begin_ns < b.begin_ns; });
    std::vector<TimeSpan> disjoint;
    for (const TimeSpan& stretch : stretches) {
        if (!disjoint.empty() && stretch.begin_ns <= disjoint.back().end_ns)
            disjoint.back().end_ns = std::max(disjoint.back().end_ns, stretch.end_ns);
        else
            disjoint.push_back(stretch);
    }
    return disjoint;
}

std::int64_t overlap_ns(std::int64_t begin_ns, std::int64_t end_ns, std::span<const TimeSpan> stretches)
{
    std::int64_t sum = 0;
    auto stretch = std::partition_point(stretches.begin(), stretches.end(),
                                        [&](const TimeSpan& s) { return s.end_ns <= begin_ns; });
    for (; stretch != stretches.end() && stretch->begin_ns < end_ns; ++stretch)
        sum += std::min(end_ns, stretch->end_ns) - std::max(begin_ns, stretch->begin_ns);
    return sum;
}

std::string text(Design design)
{
    switch (design) {
        case Design::rotation:
            return "rotation";
        case Design::factorial:
            return "factorial";
        case Design::sequence:
            break;
    }
    return "sequence";
}

std::string Treatment::name() const
{
    if (on.empty()) return "quiet";
    std::string name;
    for (const Assigned& factor : on) {
        if (!name.empty()) name += "+";
        name += base::factor_name(factor.factor, factor.level);
    }
    return name;
}

namespace {

// The shortest period of the labels; their number if they never repeat.
std::size_t period(const std::vector<std::size_t>& labels)
{
    for (std::size_t length = 1; 2 * length <= labels.size(); ++length) {
        bool repeats = true;
        for (std::size_t i = length; repeats && i < labels.size(); ++i) repeats = labels[i] == labels[i - length];
        if (repeats) return length;
    }
    return labels.size();
}

std::vector<int> blocks_of_sequence(const std::vector<std::size_t>& labels, std::size_t treatments)
{
    std::vector<int> blocks(labels.size(), 0);
    const std::size_t length = period(labels);
    if (length < labels.size()) {
        for (std::size_t i = 0; i < labels.size(); ++i) blocks[i] = static_cast<int>(i / length);
        return blocks;
    }
    int block = 0;
    std::set<std::size_t> seen;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (seen.size() == treatments) {
            ++block;
            seen.clear();
        }
        blocks[i] = block;
        seen.insert(labels[i]);
    }
    return blocks;
}

std::vector<int> blocks_as_planned(std::span<const Slot> slots)
{
    std::vector<int> blocks;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (i == 0)
            blocks.push_back(0);
        else
            blocks.push_back(blocks.back() + (slots[i].block == slots[i - 1].block ? 0 : 1));
    }
    return blocks;
}

bool is_control(const Treatment& treatment)
{
    return treatment.on.size() == 1 && treatment.on.front().role != base::Role::treatment;
}

// Order by factor, then by level: 4GiB/s comes before 16GiB/s, and amounts come before other levels.
bool lower(const Assigned& a, const Assigned& b)
{
    const auto key = [](const Assigned& on) {
        const Amount amount = amount_of(on.level);
        return std::tuple{on.factor, amount.option, !amount.value, amount.value.value_or(0.0), on.level};
    };
    return key(a) < key(b);
}

// The order of treatments in every table: quiet, single factors by name, combinations, controls.
bool comes_before(const Treatment& a, const Treatment& b)
{
    const auto key = [](const Treatment& t) { return std::tuple{is_control(t), t.on.size()}; };
    if (key(a) != key(b)) return key(a) < key(b);
    return std::lexicographical_compare(a.on.begin(), a.on.end(), b.on.begin(), b.on.end(), lower);
}

}  // namespace

Amount amount_of(const std::string& level)
{
    const std::size_t equals = level.find('=');
    if (equals == std::string::npos) return {level, {}, ""};
    const std::string text = level.substr(equals + 1);
    Amount amount{level.substr(0, equals), {}, ""};
    const auto is = [&](auto kind, const auto& value, const char* unit) {
        try {
            const double found = value(base::parse<decltype(kind)>(text));
            if (!std::isfinite(found)) return false;
            amount.value = found;
            amount.unit = unit;
            return true;
        } catch (const base::UsageError&) {
            return false;
        }
    };
    const bool bytes = text.find('B') != std::string::npos;
    // Tries each kind of amount; the first one that parses is used.
    static_cast<void>(
        is(
            base::Rate{}, [](base::Rate rate) { return rate.per_second; }, bytes ? "bytes/s" : "operations/s") ||
        is(
            base::Percent{}, [](base::Percent percent) { return percent.value; }, "percent") ||
        is(
            base::Bytes{}, [](base::Bytes size) { return static_cast<double>(size.count); }, "bytes") ||
        is(
            base::Nanoseconds{}, [](base::Nanoseconds time) { return base::seconds(time); }, "s") ||
        is(
            double{}, [](double number) { return number; }, ""));
    return amount;
}

Experiment experiment(Design design, std::span<const Slot> slots)
{
    if (slots.empty()) base::fail("the noise has no slots");
    Experiment plan;
    plan.design = design;
    plan.treatments.push_back({});
    bool any_quiet = false;
    for (const Slot& slot : slots) {
        any_quiet = any_quiet || slot.on.empty();
        const Treatment treatment{slot.on};
        if (std::find(plan.treatments.begin(), plan.treatments.end(), treatment) == plan.treatments.end())
            plan.treatments.push_back(treatment);
    }
    if (!any_quiet) base::fail("the noise was never quiet: there is no baseline");
    if (plan.treatments.size() == 1) base::fail("the noise was always quiet: there is nothing to measure");
    std::sort(plan.treatments.begin(), plan.treatments.end(), comes_before);
    for (const Slot& slot : slots) {
        const auto known = std::find(plan.treatments.begin(), plan.treatments.end(), Treatment{slot.on});
        plan.treatment_of.push_back(static_cast<std::size_t>(known - plan.treatments.begin()));
    }
    plan.block_of = design == Design::sequence ? blocks_of_sequence(plan.treatment_of, plan.treatments.size())
                                               : blocks_as_planned(slots);
    plan.blocks = plan.block_of.back() + 1;
    return plan;
}

bool is_without_noise(const Treatment& treatment)
{
    return std::none_of(treatment.on.begin(), treatment.on.end(), [](const Assigned& on) {
        return on.role == base::Role::treatment || on.role == base::Role::pause;
    });
}

}  // namespace analysis
