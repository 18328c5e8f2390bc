// SPDX-License-Identifier: Apache-2.0
#include "analysis/studies/studies.hpp"

#include "analysis/conclude/verdict.hpp"
#include "analysis/estimate/analyse.hpp"
#include "analysis/estimate/random_effects.hpp"
#include "analysis/estimate/simulation.hpp"
#include "base/contract/verdict_words.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <iomanip>

namespace analysis {

namespace {

constexpr double drift = 0.30;
constexpr double stalled = 0.01;

}  // namespace

const std::vector<std::string> study_columns{"study",    "effect_percent", "varies_percent", "count",
                                             "quantity", "value",          "repetitions",    "seed"};

Simulation study_simulation(const std::vector<double>& effects_percent, double run_s)
{
    return {.effects_percent = effects_percent,
            .drift = drift,
            .outlier_rate = 0.0,  // stalls take the place of outliers
            .stalled = stalled,
            .run_s = run_s};
}

DesignedRun designed_run(SimulatedRun simulated)
{
    DesignedRun run;
    run.plan = experiment(Design::rotation, simulated.slots);
    run.steps = std::move(simulated.steps);
    run.slots.push_back(std::move(simulated.slots));
    return run;
}

void tell_row(std::ostream& out, const Study& study, const char* name, double effect, double varies, int count,
              const std::string& quantity, double value)
{
    out << std::left << std::setw(10) << name << std::right << std::fixed << std::setprecision(1) << std::setw(7)
        << effect << " % +- " << std::setw(4) << varies << " %" << std::setw(5) << count << "  " << std::left
        << std::setw(42) << quantity << std::right << std::setprecision(3) << std::setw(8) << value << std::endl;
    if (study.csv != nullptr)
        study.csv->row(name, effect, varies, count, quantity, value, study.repetitions, study.seed);
}

namespace {

constexpr double confidence = study_confidence;
constexpr double budget_percent = 3.0;  // about the standard deviation of the effect between blocks
constexpr double block_s = 6.0;         // four factors and two quiet slots, a second each
constexpr int fixed_blocks = 60;
constexpr int blocks_between_looks = 2;

Analysis analysed(const DesignedRun& run, Looks looks)
{
    return analyse(run, {.draws = {.count = 0}, .by_rank = false, .looks = looks});
}

// The first `blocks` blocks of the run.
DesignedRun first_blocks(const DesignedRun& run, int blocks)
{
    DesignedRun part;
    const auto end_ns = static_cast<std::int64_t>(blocks * block_s * 1e9);
    for (const Slot& slot : run.slots.front())
        if (slot.block < blocks) {
            if (part.slots.empty()) part.slots.emplace_back();
            part.slots.front().push_back(slot);
        }
    part.plan = experiment(Design::rotation, part.slots.front());
    part.steps.phases = run.steps.phases;
    const RankSteps& all = run.steps.ranks.front();
    const auto count = std::upper_bound(all.end_ns.begin(), all.end_ns.end(), end_ns) - all.end_ns.begin();
    RankSteps& rank = part.steps.ranks.emplace_back();
    part.steps.numbers.assign(run.steps.numbers.begin(), run.steps.numbers.begin() + count);
    rank.begin_ns.assign(all.begin_ns.begin(), all.begin_ns.begin() + count);
    rank.end_ns.assign(all.end_ns.begin(), all.end_ns.begin() + count);
    rank.phase_ms = all.phase_ms;
    rank.phase_ms.resize(count, all.phase_ms.cols());
    return part;
}

Mean estimate_of(const Analysis& analysis, std::size_t factor)
{
    return find(analysis.effects, base::join("f", factor), "", Kind::alone, "step")->percent;
}

// Several runs, each with its own true effects, which vary around 1 %, 5 % and 20 % by the given share.
struct Set {
    std::vector<std::vector<double>> truths;  // [run][factor]
    std::vector<Analysis> analyses;
};

const std::vector<double> mean_effects{0.0, 1.0, 5.0, 20.0};

Set simulated_set(int count, double varies, base::Random& random)
{
    Set set;
    for (int run = 0; run < count; ++run) {
        std::vector<double> truth = mean_effects;
        for (double& effect : truth) effect *= 1.0 + varies * base::draw_normal(random);
        set.analyses.push_back(analysed(designed_run(simulate(study_simulation(truth, 120.0), random)), Looks::none));
        set.truths.push_back(truth);
    }
    return set;
}

std::vector<Mean> estimates_of(const Set& set, std::size_t factor)
{
    std::vector<Mean> all;
    for (const Analysis& analysis : set.analyses) all.push_back(estimate_of(analysis, factor));
    return all;
}

}  // namespace

void study_of_pooled(std::ostream& out, const Study& study)
{
    base::Random random{study.seed};
    for (const int count : {3, 5, 10})
        for (const double varies : {0.01, 0.25}) {
            std::vector<double> covered(mean_effects.size(), 0.0);
            std::vector<double> predicted(mean_effects.size(), 0.0);
            for (int repetition = 0; repetition < study.repetitions; ++repetition) {
                const Set set = simulated_set(count, varies, random);
                for (std::size_t f = 0; f < mean_effects.size(); ++f) {
                    const std::vector<Mean> runs = estimates_of(set, f);
                    const double next = mean_effects[f] * (1.0 + varies * base::draw_normal(random));
                    covered[f] += random_effects(runs).mean.interval(confidence).contains(mean_effects[f]) ? 1.0 : 0.0;
                    predicted[f] += prediction(runs, confidence)->contains(next) ? 1.0 : 0.0;
                }
            }
            for (std::size_t f = 0; f < mean_effects.size(); ++f) {
                const auto share = [&](double number) { return number / study.repetitions; };
                tell_row(out, study, "pooled", mean_effects[f], 100.0 * varies, count, "coverage of the mean",
                         share(covered[f]));
                tell_row(out, study, "pooled", mean_effects[f], 100.0 * varies, count, "coverage of one more run",
                         share(predicted[f]));
            }
        }
}

void study_of_extended(std::ostream& out, const Study& study)
{
    base::Random random{study.seed};
    for (const int count : {3, 5, 10})
        for (const double varies : {0.01, 0.25}) {
            std::vector<double> covered(mean_effects.size(), 0.0);
            for (int repetition = 0; repetition < study.repetitions; ++repetition) {
                const Set set = simulated_set(count, varies, random);
                std::vector<double> blocks;
                for (const Analysis& analysis : set.analyses) blocks.push_back(analysis.blocks);
                for (std::size_t f = 0; f < mean_effects.size(); ++f) {
                    double truth = 0.0;
                    double sum = 0.0;
                    for (std::size_t p = 0; p < blocks.size(); ++p) {
                        truth += blocks[p] * set.truths[p][f];
                        sum += blocks[p];
                    }
                    const Mean pooled = strata_mean(estimates_of(set, f), blocks);
                    covered[f] += pooled.interval(confidence).contains(truth / sum) ? 1.0 : 0.0;
                }
            }
            for (std::size_t f = 0; f < mean_effects.size(); ++f)
                tell_row(out, study, "extended", mean_effects[f], 100.0 * varies, count, "coverage of the parts' mean",
                         covered[f] / study.repetitions);
        }
}

namespace {

// The result of one run at its end.
struct Ending {
    int blocks = 0;
    bool safe = false;  // any of the noises is safe
    bool unsafe = false;
    bool decided = true;
    std::vector<std::string> words;  // [noise]: verdict
};

void judge_all(Ending& ending, const std::vector<Mean>& noises, Looks looks)
{
    const std::vector<double> each = confidences(noises, {budget_percent, confidence, looks});
    ending.safe = ending.unsafe = false;
    ending.decided = true;
    ending.words.clear();
    for (std::size_t n = 0; n < noises.size(); ++n) {
        const std::string word = judge(noises[n].interval(each[n]), budget_percent);
        ending.words.push_back(word);
        ending.safe = ending.safe || word == base::verdict_word::safe;
        ending.unsafe = ending.unsafe || word == base::verdict_word::unsafe;
        ending.decided = ending.decided && word != base::verdict_word::undecided;
    }
}

std::vector<Mean> noises_of(const Analysis& analysis, std::size_t judged)
{
    std::vector<Mean> noises;
    for (std::size_t n = 0; n < judged; ++n) noises.push_back(estimate_of(analysis, n + 1));
    return noises;
}

// Extends a run until its noises are decided. The first effect is the placebo's.
Ending until_decided(const std::vector<double>& effects, std::size_t judged, base::Random& random)
{
    const DesignedRun run = designed_run(simulate(study_simulation(effects, fixed_blocks * block_s), random));
    Ending ending;
    for (int blocks = blocks_before_first_look; blocks <= fixed_blocks; blocks += blocks_between_looks) {
        ending.blocks = blocks;
        const Looks look = blocks < fixed_blocks ? Looks::on_the_way : Looks::at_the_end;
        judge_all(ending, noises_of(analysed(first_blocks(run, blocks), look), judged), look);
        if (ending.decided) break;
    }
    return ending;
}

// Runs a quarter of the fixed length at a time while undecided, with intervals that do not allow for repeated checks.
Ending extended_while_undecided(const std::vector<double>& effects, std::size_t judged, base::Random& random)
{
    constexpr int part_blocks = fixed_blocks / 4;
    std::vector<std::vector<Mean>> parts(judged);
    std::vector<double> blocks;
    Ending ending;
    while (ending.blocks < fixed_blocks) {
        const Analysis part =
            analysed(designed_run(simulate(study_simulation(effects, part_blocks * block_s), random)), Looks::none);
        const std::vector<Mean> noises = noises_of(part, judged);
        for (std::size_t n = 0; n < parts.size(); ++n) parts[n].push_back(noises[n]);
        blocks.push_back(part.blocks);
        std::vector<Mean> pooled;
        for (const std::vector<Mean>& noise : parts) pooled.push_back(strata_mean(noise, blocks));
        ending.blocks += part_blocks;
        judge_all(ending, pooled, Looks::none);
        if (ending.decided) break;
    }
    return ending;
}

template <class Make>
void tell_endings(std::ostream& out, const Study& study, const char* name, int judged, Make make)
{
    base::Random random{study.seed};
    for (const double share_of_budget : {0.0, 0.5, 1.0, 2.0}) {
        double blocks = 0.0;
        double safe = 0.0;
        double unsafe = 0.0;
        double decided = 0.0;
        for (int repetition = 0; repetition < study.repetitions; ++repetition) {
            const double true_effect = share_of_budget * budget_percent;
            const Ending ending =
                make({0.0, true_effect, true_effect, true_effect}, static_cast<std::size_t>(judged), random);
            blocks += ending.blocks;
            safe += ending.safe ? 1.0 : 0.0;
            unsafe += ending.unsafe ? 1.0 : 0.0;
            decided += ending.decided ? 1.0 : 0.0;
        }
        const double effect = share_of_budget * budget_percent;
        const auto row = [&](const char* quantity, double value) {
            tell_row(out, study, name, effect, 0.0, judged, quantity, value / study.repetitions);
        };
        row("share of the fixed length", blocks / fixed_blocks);
        row("all decided", decided);
        row("any called safe", safe);
        row("any called unsafe", unsafe);
    }
}

// Reports the error of the last open noise: two noises are far from the budget and soon leave their shares of error to
// it.
void tell_last_open(std::ostream& out, const Study& study)
{
    base::Random random{study.seed};
    double safe = 0.0;
    double unsafe = 0.0;
    for (int repetition = 0; repetition < study.repetitions; ++repetition) {
        const Ending ending = until_decided({0.0, 0.0, 2.0 * budget_percent, budget_percent}, 3, random);
        safe += ending.words.back() == base::verdict_word::safe ? 1.0 : 0.0;
        unsafe += ending.words.back() == base::verdict_word::unsafe ? 1.0 : 0.0;
    }
    tell_row(out, study, "until", budget_percent, 0.0, 3, "the last open one called safe", safe / study.repetitions);
    tell_row(out, study, "until", budget_percent, 0.0, 3, "the last open one called unsafe",
             unsafe / study.repetitions);
}

}  // namespace

void study_of_looking(std::ostream& out, const Study& study)
{
    for (const int judged : {1, 3}) {
        tell_endings(out, study, "until", judged, until_decided);
        tell_endings(out, study, "extends", judged, extended_while_undecided);
    }
    tell_last_open(out, study);
}

}  // namespace analysis
