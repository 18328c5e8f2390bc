// SPDX-License-Identifier: Apache-2.0
#include "analysis/outcomes/classes.hpp"

#include "analysis/outcomes/strata.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace analysis {

namespace outcome_class = base::outcome_class;

namespace {

constexpr double latent_factor = 1000.0;  // times the largest value without an alteration
constexpr const char* several = "several";
constexpr const char* all = "all";

struct Look {
    std::int64_t steps = 0;
    double accuracy = 0.0;
};

// Parses accuracies after numbers of steps, such as "0:0.31 1:0.45".
std::vector<Look> looks_of(const base::Outcome& outcome)
{
    std::vector<Look> looks;
    for (const std::string& word : base::split(outcome.accuracies, ' ')) {
        const std::size_t colon = word.find(':');
        if (colon == std::string::npos) base::fail("outcomes.csv: '", word, "' is not an accuracy such as 8:0.93");
        looks.push_back(
            {base::parse<std::int64_t>(word.substr(0, colon)), base::parse<double>(word.substr(colon + 1))});
    }
    return looks;
}

// The path or bit if the words have only one; else "several".
std::string one_of(const std::string& words, const char* separators)
{
    if (words.find_first_of(separators) != std::string::npos) return several;
    return words;
}

// State of an undisturbed training at the same moment and of the same length.
struct Golden {
    double largest = 0.0;
    std::int64_t not_finite = 0;
    std::map<std::int64_t, double> accuracies;  // by look
    double accuracy = 0.0;
};

using Goldens = std::map<std::pair<std::int64_t, std::int64_t>, Golden>;  // by step and number of steps

Goldens goldens_of(const TrialRun& run)
{
    Goldens goldens;
    for (const base::Outcome& one : run.outcomes) {
        if (one.kind != base::trial_kind::null || !one.accuracy) continue;
        Golden golden{one.largest.value_or(0.0), one.not_finite, {}, *one.accuracy};
        for (const Look& look : looks_of(one)) golden.accuracies[look.steps] = look.accuracy;
        goldens.try_emplace({one.step, one.steps}, golden);
    }
    return goldens;
}

// Sets the two measured steps between which the training recovered, after the first of which it is worse than required;
// 0 and 0: it was never worse.
void note_recovery(ClassedTrial& one, const Golden& golden, double allowance)
{
    std::optional<std::int64_t> worse;  // the latest step after which it was worse
    for (const Look& look : looks_of(one.outcome)) {
        const auto beside = golden.accuracies.find(look.steps);
        const bool good = beside == golden.accuracies.end() || look.accuracy >= beside->second - allowance;
        if (good && worse) {
            one.worse_until = *worse;
            one.recovered_after = look.steps;
        }
        worse = good ? std::nullopt : std::optional{look.steps};
    }
}

// Accuracy of blind guessing plus three standard deviations of this number of guesses.
double chance_bound(const TrialRun& run)
{
    const double answers = std::max<double>(1.0, static_cast<double>(run.held_out));
    return run.chance + 3.0 * std::sqrt(run.chance * (1.0 - run.chance) / answers);
}

void classify(ClassedTrial& one, const TrialRun& run, const Band& band, const Golden* golden)
{
    const base::Outcome& outcome = one.outcome;
    one.what = outcome.what;
    if (outcome.what != outcome_class::ended) return;  // the training itself determined the class
    const double accuracy = outcome.accuracy.value_or(0.0);
    if (accuracy <= chance_bound(run)) {
        one.what = outcome_class::collapsed;
    } else if (accuracy < band.low) {
        one.what = outcome_class::degraded;
    } else if (golden != nullptr && (outcome.not_finite > golden->not_finite ||
                                     outcome.largest.value_or(0.0) > latent_factor * golden->largest)) {
        one.what = outcome_class::latent;
    } else {
        const double allowance = golden == nullptr ? 0.0 : std::max(0.0, golden->accuracy - band.low);
        if (golden != nullptr) note_recovery(one, *golden, allowance);
        one.what = one.recovered_after > 0 ? outcome_class::recovered : outcome_class::tolerated;
    }
}

base::Interval interval_of(double share, double trials, ProportionInterval kind)
{
    constexpr double confidence = 0.95;
    const base::Interval found = kind == ProportionInterval::wilson
                                     ? base::wilson(share * trials, trials, confidence)
                                     : base::clopper_pearson(share * trials, trials, confidence);
    return {100.0 * found.low, 100.0 * found.high};
}

}  // namespace

bool is_ruined(const std::string& what)
{
    return what == outcome_class::crashed || what == outcome_class::collapsed || what == outcome_class::degraded;
}

std::vector<const ClassedTrial*> left_to_themselves(const std::vector<ClassedTrial>& trials)
{
    std::vector<const ClassedTrial*> all;
    std::vector<const ClassedTrial*> left;
    for (const ClassedTrial& one : trials) {
        if (one.trial.kind != base::trial_kind::trial) continue;
        all.push_back(&one);
        if (is_left_to_itself(one)) left.push_back(&one);
    }
    return left.empty() ? all : left;
}

std::vector<ClassedTrial> classed(const TrialRun& run, const Bands& bands)
{
    const Goldens goldens = goldens_of(run);
    std::vector<ClassedTrial> trials;
    for (std::size_t i = 0; i < run.outcomes.size(); ++i) {
        const base::Trial& trial = run.trials[i];
        const base::Outcome& outcome = run.outcomes[i];
        ClassedTrial one{.trial = trial,
                         .outcome = outcome,
                         .strategy = run.strategy,
                         .model = run.model,
                         .what = {},
                         .location = {},
                         .bit = {}};
        // The outcome of several flips in one tensor is no evidence on a single flip in it.
        if (trial.count == 1) {
            one.location = one_of(outcome.path, ";");
            one.bit = one_of(outcome.bits, " ");
        }
        if (one.location.empty()) one.location = trial.location.empty() ? several : trial.location;
        if (one.bit.empty()) one.bit = trial.bits.empty() ? several : one_of(trial.bits, "-");
        const auto band = bands.find({run.model, trial.step + trial.steps});
        if (band == bands.end())
            base::fail("trial ", trial.name, " of ", run.model, " ends at step ", trial.step + trial.steps,
                       ", but no undisturbed training of --band does");
        const auto golden = goldens.find({trial.step, trial.steps});
        classify(one, run, band->second, golden == goldens.end() ? nullptr : &golden->second);
        trials.push_back(std::move(one));
    }
    return trials;
}

ClassShare share_of(const std::vector<WeightedTrial>& trials, const std::function<bool(const ClassedTrial&)>& is_so,
                    ProportionInterval kind)
{
    constexpr double least_difference = 1e-9;  // relative difference of weights that is not rounding
    ClassShare share;
    double weights = 0.0;
    double squares = 0.0;
    double with_class = 0.0;
    for (const WeightedTrial& one : trials) {
        const bool is_it = is_so(*one.trial);
        ++share.trials;
        share.count += is_it ? 1 : 0;
        share.is_weighted |= std::abs(one.weight - trials.front().weight) > least_difference * one.weight;
        weights += one.weight;
        squares += one.weight * one.weight;
        if (is_it) with_class += one.weight;
    }
    if (share.trials == 0) share.percent_interval = {0.0, 100.0};  // no trials, no information
    if (share.trials == 0) return share;
    share.percent = 100.0 * with_class / weights;
    // Kish's effective sample size: the number of trials with equal weights that hold as much information.
    share.percent_interval = interval_of(with_class / weights, weights * weights / squares, kind);
    return share;
}

std::vector<ClassShare> class_shares(const std::vector<ClassedTrial>& trials, ProportionInterval kind)
{
    using Cell = std::tuple<std::string, std::string, std::string, std::string, std::int64_t>;
    const std::vector<const ClassedTrial*> counted = left_to_themselves(trials);
    std::map<Cell, std::vector<WeightedTrial>> cells;
    for (const WeightedTrial& weighted : weighed(counted, per_target)) {
        const ClassedTrial& one = *weighted.trial;
        std::set<Cell> of;
        for (const std::string& location : {std::string{all}, one.location})
            for (const std::string& bit : {std::string{all}, one.bit})
                of.insert({one.strategy, one.trial.target, location, bit, 0});
        for (const Cell& cell : of) cells[cell].push_back(weighted);
    }
    std::set<std::int64_t> numbers_of_flips;
    for (const ClassedTrial* one : counted) numbers_of_flips.insert(one->trial.count);
    if (numbers_of_flips.size() > 1)
        for (const WeightedTrial& weighted : weighed(counted, per_flips)) {
            const ClassedTrial& one = *weighted.trial;
            cells[{one.strategy, one.trial.target, all, all, one.trial.count}].push_back(weighted);
        }
    std::vector<ClassShare> shares;
    for (const auto& [cell, here] : cells)
        for (const char* what : outcome_classes) {
            ClassShare share = share_of(
                here, [what](const ClassedTrial& one) { return one.what == what; }, kind);
            std::tie(share.strategy, share.target, share.location, share.bit, share.flips) = cell;
            share.what = what;
            shares.push_back(share);
        }
    return shares;
}

std::vector<std::string> why_not_trustworthy(const std::vector<ClassedTrial>& trials, const Bands& bands)
{
    std::vector<std::string> why;
    std::size_t nulls = 0;
    std::size_t positives = 0;
    std::set<std::string> said;
    const auto say = [&](const std::string& text) {
        if (said.insert(text).second) why.push_back(text);
    };
    for (const ClassedTrial& one : trials) {
        const bool null = one.trial.kind == base::trial_kind::null;
        const bool positive = one.trial.kind == base::trial_kind::positive;
        nulls += null ? 1 : 0;
        positives += positive ? 1 : 0;
        if (null && one.what != outcome_class::masked)
            say(base::join("null trial ", one.trial.name, " is ", one.what, ", not masked: trials are not repeatable"));
        const bool caught = !one.outcome.caught.empty();  // a guard may also have corrected it
        if (positive && !caught && one.what != outcome_class::collapsed)
            say(base::join("positive trial ", one.trial.name, " is ", one.what,
                           ", not collapsed: alterations do not reach the training"));
        const Band& band = bands.at({one.model, one.trial.step + one.trial.steps});
        if (null && one.outcome.accuracy.value_or(0.0) < band.low)
            say("the training without any alteration lies below the band of other seeds");
    }
    if (nulls == 0) say("there is no null trial");
    if (positives == 0) say("there is no positive trial");
    return why;
}

}  // namespace analysis
