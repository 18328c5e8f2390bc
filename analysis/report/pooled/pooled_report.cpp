// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/pooled/pooled_report.hpp"

#include "analysis/results/identity.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/record.hpp"
#include "analysis/sections/harvest/harvest_section.hpp"
#include "analysis/sections/response/response_section.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace analysis {

namespace {

using base::join;

constexpr double alike = 0.05;  // runs differ if p is below this

void refuse(const NamedReport& a, const NamedReport& b, const std::string& what)
{
    base::fail_usage(a.name, " and ", b.name, what);
}

void check_text(const NamedReport& a, const NamedReport& b, const std::string& what, const std::string& of_a,
                const std::string& of_b)
{
    constexpr std::size_t longest = 60;
    if (of_a == of_b) return;
    refuse(a, b,
           join(" are no runs of one design: ", what, " '", base::shortened(of_a, longest), "' and '",
                base::shortened(of_b, longest), "'"));
}

bool is_copy(const Report& a, const Report& b)
{
    const RankSteps& own = a.run.steps.ranks.front();
    const RankSteps& other = b.run.steps.ranks.front();
    return own.begin_ns.front() == other.begin_ns.front() && own.end_ns.front() == other.end_ns.front() &&
           own.end_ns.back() == other.end_ns.back();
}

std::string treatments_of(const Experiment& plan)
{
    std::vector<std::string> names;
    for (const Treatment& treatment : plan.treatments) names.push_back(treatment.name());
    std::sort(names.begin(), names.end());
    return base::join_words(names, ", ");
}

std::string training_member(const Report& report, const char* key)
{
    const Record* record = training_record(report);
    if (record == nullptr) return "";
    const nlohmann::ordered_json& training = object_in(record->json, "training");
    const auto found = training.find(key);
    return found == training.end() ? "" : found->dump();
}

void check_one_design(const NamedReport& first, const NamedReport& other)
{
    const Report& a = first.report;
    const Report& b = other.report;
    if (is_copy(a, b)) refuse(first, other, " are the same run: each counts once");
    check_text(first, other, "schedules", a.schedule, b.schedule);
    check_text(first, other, "noises", treatments_of(a.run.plan), treatments_of(b.run.plan));
    check_text(first, other, "ranks", join(a.run.steps.ranks.size()), join(b.run.steps.ranks.size()));
    const Identity own = identity(a);
    const Identity others = identity(b);
    check_text(first, other, "models", own.model, others.model);
    check_text(first, other, "data", own.data, others.data);
    check_text(first, other, "strategies", own.strategy, others.strategy);
    check_text(first, other, "batches", training_member(a, "batch"), training_member(b, "batch"));
}

std::vector<AnalysedRun> analysed(const std::vector<std::vector<NamedReport>>& runs)
{
    std::vector<AnalysedRun> all;
    for (const auto& parts : runs) {
        AnalysedRun& run = all.emplace_back();
        for (const NamedReport& part : parts) run.push_back({part.name, &part.report.analysis, &part.report.verdict});
    }
    return all;
}

std::vector<RunOfCurve> of_curves(const std::vector<std::vector<NamedReport>>& runs)
{
    std::vector<RunOfCurve> all;
    for (const auto& parts : runs) {
        RunOfCurve& run = all.emplace_back();
        for (const NamedReport& part : parts) run.push_back({&part.report.run, &part.report.analysis});
    }
    return all;
}

std::vector<std::vector<const Report*>> reports_of(const std::vector<std::vector<NamedReport>>& runs)
{
    std::vector<std::vector<const Report*>> all;
    for (const auto& parts : runs) {
        std::vector<const Report*>& run = all.emplace_back();
        for (const NamedReport& part : parts) run.push_back(&part.report);
    }
    return all;
}

// The steps and slots of a run that its tables and sentences need.
DesignedRun outline(const DesignedRun& run)
{
    DesignedRun kept;
    kept.steps.phases = run.steps.phases;
    kept.computes_on_gpu = run.computes_on_gpu;
    for (const RankSteps& rank : run.steps.ranks) kept.steps.ranks.emplace_back().rank = rank.rank;
    kept.slots = {{run.slots.front().front()}};
    kept.plan = run.plan;
    kept.extra_names = run.extra_names;
    kept.evidence.names = run.evidence.names;
    return kept;
}

// Removes phases, and causes that kept threads from running, that some part lacks, such as the phases of a control that
// was not connected.
void keep_common_names(Report& all)
{
    const auto missing_in = [&](Family family) {
        return [&all, family](const std::string& name) {
            return std::none_of(all.analysis.effects.begin(), all.analysis.effects.end(),
                                [&](const Effect& effect) { return effect.family == family && effect.phase == name; });
        };
    };
    std::erase_if(all.run.steps.phases, missing_in(Family::step));
    std::erase_if(all.run.evidence.names, missing_in(Family::evidence));
}

void add_new(std::vector<std::string>& all, const std::vector<std::string>& more)
{
    for (const std::string& one : more)
        if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

std::string without_digits(std::string text)
{
    std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
    return text;
}

// The limits of all parts. A limit of only some parts begins with their names. Limits that differ only in numbers are
// next to each other.
std::vector<std::string> named_limits(const std::vector<const NamedReport*>& parts)
{
    struct Limit {
        std::string text;
        std::vector<std::string> names;
    };
    std::vector<Limit> all;
    for (const NamedReport* part : parts) {
        for (const std::string& text : part->report.limits) {
            auto place = std::find_if(all.begin(), all.end(), [&](const Limit& one) { return one.text == text; });
            if (place == all.end()) {
                const auto alike = std::find_if(all.rbegin(), all.rend(), [&](const Limit& one) {
                    return without_digits(one.text) == without_digits(text);
                });
                place = all.insert(alike == all.rend() ? all.end() : alike.base(), Limit{text, {}});
            }
            place->names.push_back(part->name);
        }
    }
    std::vector<std::string> texts;
    for (const Limit& limit : all)
        texts.push_back(limit.names.size() == parts.size()
                            ? limit.text
                            : join(base::join_words(limit.names, ", "), ": ", limit.text));
    return texts;
}

void add_part(Report& all, const Report& part)
{
    all.analysis.blocks += part.analysis.blocks;
    all.analysis.blocks_s += part.analysis.blocks_s;
    all.analysis.dropped_blocks += part.analysis.dropped_blocks;
    all.analysis.covered_share = std::min(all.analysis.covered_share, part.analysis.covered_share);
    for (const auto& [reason, count] : part.analysis.counts) all.analysis.counts[reason] += count;
    all.analysis.long_steps.rare = all.analysis.long_steps.rare && part.analysis.long_steps.rare;
    const std::vector<std::size_t>& accidents = part.analysis.long_steps.accidents;
    all.analysis.long_steps.accidents.insert(all.analysis.long_steps.accidents.end(), accidents.begin(),
                                             accidents.end());
    add_new(all.notes, part.notes);
    all.records.insert(all.records.end(), part.records.begin(), part.records.end());
}

// Adds a note on runs with the same seed: their treatments had the same order, so periodic activity of the machine
// may affect both equally.
void note_equal_seeds(PooledReport& report)
{
    std::vector<std::string> seeds;
    for (const NamedReport* part : report.parts()) {
        const std::string& seed = part->report.seed;
        if (!seed.empty() && std::find(seeds.begin(), seeds.end(), seed) != seeds.end())
            report.all.notes.push_back(join(part->name, " had the same order of noise as another (seed ", seed,
                                            "): repeat it with another --seed"));
        if (!seed.empty()) seeds.push_back(seed);
    }
    report.all.seed = base::join_words(seeds, ", ");
}

}  // namespace

std::vector<const NamedReport*> PooledReport::parts() const
{
    std::vector<const NamedReport*> all;
    for (const auto& run : runs)
        for (const NamedReport& part : run) all.push_back(&part);
    return all;
}

PooledReport pooled(std::vector<std::vector<NamedReport>> runs, const std::string& again)
{
    PooledReport report;
    report.runs = std::move(runs);
    const std::vector<const NamedReport*> parts = report.parts();
    for (std::size_t b = 1; b < parts.size(); ++b) {
        for (std::size_t a = 0; a < b; ++a)
            if (is_copy(parts[a]->report, parts[b]->report)) check_one_design(*parts[a], *parts[b]);
        check_one_design(*parts.front(), *parts[b]);
    }
    const Report& first = parts.front()->report;
    std::vector<Looks> looks;
    for (const NamedReport* part : parts) looks.push_back(part->report.verdict.looks);
    report.pooled =
        pool(analysed(report.runs), {first.verdict.budget_percent, first.verdict.confidence, looks_together(looks)});

    Report& all = report.all;
    all.run = outline(first.run);
    all.rules = first.rules;
    all.schedule = first.schedule;
    all.hosts = first.hosts;
    all.step_is = first.step_is;
    all.again = again;
    all.own_record = first.own_record;
    all.runs = report.runs.size();
    all.analysis.covered_share = 1.0;
    for (const NamedReport* part : parts) add_part(all, part->report);
    all.limits = named_limits(parts);
    for (const PooledEffect& effect : report.pooled.effects) all.analysis.effects.push_back(effect.effect);
    all.analysis.effects.insert(all.analysis.effects.end(), report.pooled.parts.begin(), report.pooled.parts.end());
    keep_common_names(all);
    all.verdict = report.pooled.verdict;
    all.analysis.quiet_step_ms = all.verdict.quiet_step_ms;
    note_equal_seeds(report);
    add_curves(all, of_curves(report.runs));
    add_harvest_of_all(all, reports_of(report.runs));
    report.differences = differences(parts);
    return report;
}

std::string what_was_pooled(const PooledReport& report)
{
    const std::size_t parts = report.parts().size();
    const std::string runs = counted(report.runs.size(), "run");
    return parts == report.runs.size() ? runs : join(runs, " in ", parts, " parts");
}

std::string scope(const PooledReport& report)
{
    if (report.of_runs())
        return join(
            "The intervals include variation from run to run and within runs: they are of the mean effect over "
            "such runs, of which there were ",
            report.runs.size(),
            ". The effect in one more run is expected in the prediction interval, not in the intervals of the mean.",
            report.runs.size() < 3 ? " Two runs give none."
                                   : " Where runs hardly differ, that interval is wider than it has to be.");
    return "The intervals are of this run: they do not include variation from run to run (placement, pages, clock, "
           "neighbours of a virtual machine). Its parts count together as one run, each by its length.";
}

std::string heterogeneity(const PooledReport& report, const PooledEffect& effect)
{
    const std::string p =
        join("homogeneity of ", report.of_runs() ? "runs" : "parts", ", Welch's test: p ", p_value(effect.p_alike));
    if (!report.of_runs())
        return effect.p_alike < alike ? "parts differ by more than their blocks explain (" + p + "): make several runs"
                                      : "parts do not differ significantly (" + p + ")";
    const auto predicted = prediction(effect.runs, report.all.verdict.confidence);
    return join("from run to run ± ", fixed(effect.between->between, 2), " points (standard deviation; ", p, ")",
                predicted ? join("; one more run: ", range(*predicted)) : std::string{});
}

std::vector<const PooledEffect*> step_effects(const PooledReport& report)
{
    std::vector<const PooledEffect*> effects;
    for (const PooledEffect& pooled : report.pooled.effects) {
        const Effect& effect = pooled.effect;
        if (effect.family != Family::step || effect.phase != "step" || effect.rank != all_ranks ||
            effect.kind == Kind::interaction)
            continue;
        if (effect.kind == judged_kind(report.all.analysis.effects, effect)) effects.push_back(&pooled);
    }
    return effects;
}

}  // namespace analysis
