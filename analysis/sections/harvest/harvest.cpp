// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/harvest/harvest.hpp"

#include "analysis/conclude/advice.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <cmath>
#include <cstdio>

namespace analysis {

namespace {

std::optional<Share> share_of(const std::vector<double>& own, const std::vector<double>& other, double confidence)
{
    if (own.size() < 2 || other.size() < 2) return std::nullopt;
    const Mean ours = base::mean_of(own);
    const Mean theirs = base::mean_of(other);
    if (ours.value <= 0.0 || theirs.value <= 0.0) return std::nullopt;
    const double error = std::hypot(ours.standard_error / ours.value, theirs.standard_error / theirs.value);
    const double width = t_quantile(confidence, std::min(ours.degrees_of_freedom, theirs.degrees_of_freedom)) * error;
    const double percent = 100.0 * ours.value / theirs.value;
    return Share{percent, {percent * std::exp(-width), percent * std::exp(width)}};
}

const Harvest* unlimited(const Harvests& all, const std::string& factor)
{
    for (const char* level : unlimited_levels)
        if (const auto found = all.levels.find({factor, level}); found != all.levels.end()) return &found->second;
    return nullptr;
}

const Harvested* harvest_of(const std::vector<Harvested>& all, const FactorVerdict& factor)
{
    for (const Harvested& one : all)
        if (one.factor == factor.factor && one.level == factor.level) return &one;
    return nullptr;
}

// Two significant digits: "24", "0.35".
std::string two_digits(double number)
{
    char text[64];
    std::snprintf(text, sizeof text, number < 9.5 ? "%.2g" : "%.0f", number);
    return text;
}

// A sentence on a tried setting: "with io.max:50MiB/s +0.30 % (safe), the neighbour keeps 24 %".
std::string tried(const FactorVerdict& factor, const std::string& setting, const std::vector<Harvested>& harvest)
{
    char number[64];
    std::snprintf(number, sizeof number, "%+.2f %%", factor.percent.value);
    std::string text = base::join("with ", setting, " ", number, " (", factor.verdict, ")");
    const Harvested* done = harvest_of(harvest, factor);
    if (done != nullptr && done->of_unlimited)
        text += base::join(", the neighbour keeps ", two_digits(done->of_unlimited->percent), " %");
    return text;
}

}  // namespace

std::vector<Harvested> harvested(const Harvests& beside, const std::optional<Harvests>& empty_node, double confidence)
{
    if (empty_node && empty_node->cpus != beside.cpus)
        base::fail_usage("--empty-node: its noise had ", empty_node->cpus, " CPUs, this run's has ", beside.cpus,
                         ": shares would mean nothing");
    std::vector<Harvested> all;
    for (const auto& [key, harvest] : beside.levels) {
        const auto& [factor, level] = key;
        Harvested& one = all.emplace_back(
            Harvested{factor, level, harvest.stressor, harvest.bytes, 0.0, std::nullopt, std::nullopt});
        for (const double per_s : harvest.per_s) one.per_s += per_s / static_cast<double>(harvest.per_s.size());
        if (empty_node)
            if (const auto alone = empty_node->levels.find(key); alone != empty_node->levels.end())
                one.of_empty_node = share_of(harvest.per_s, alone->second.per_s, confidence);
        const Harvest* without = tried_setting(level) ? unlimited(beside, factor) : nullptr;
        if (without != nullptr) one.of_unlimited = share_of(harvest.per_s, without->per_s, confidence);
    }
    return all;
}

void tell_tried_settings(Verdict& verdict, const std::vector<Harvested>& harvest)
{
    if (!verdict.trustworthy) return;
    for (FactorVerdict& factor : verdict.factors) {
        std::vector<std::string> all;
        for (const FactorVerdict& other : verdict.factors)
            if (const auto setting = tried_setting(other.level); setting && other.factor == factor.factor)
                all.push_back(tried(other, *setting, harvest));
        if (!all.empty()) factor.setting = {.text = "Tried here: " + base::join_words(all, "; ") + "."};
    }
}

}  // namespace analysis
