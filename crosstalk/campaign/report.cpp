// SPDX-License-Identifier: Apache-2.0
#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "crosstalk/campaign/collect.hpp"
#include "crosstalk/programs/programs.hpp"

namespace crosstalk {

namespace {

namespace fs = std::filesystem;
using base::CsvWriter;

std::string or_empty(const std::optional<double>& number)
{
    return number ? base::format(*number) : "";
}

std::string trained(const PlannedRun& run)
{
    return run.ranks == 0 ? "" : std::to_string(run.ranks);
}

void write_runs(const fs::path& file, const std::vector<CollectedRun>& runs)
{
    CsvWriter table{file,
                    {"run",     "block",          "position",       "hosts",       "model",
                     "data",    "strategy",       "ranks",          "noise",       "level",
                     "cores",   "seed",           "started",        "attempt",     "steps",
                     "step_ms", "median_step_ms", "effect_percent", "bytes_per_s", "operations_per_s",
                     "options"},
                    CsvWriter::Appear::whole};
    for (const CollectedRun& one : runs)
        table.row(one.run.name, one.run.block, one.run.position, one.hosts, one.run.model, one.run.data,
                  one.run.strategy, trained(one.run), one.run.noise, one.run.level, one.run.cores, one.run.seed,
                  one.started, one.attempt, one.steps, one.step_ms, one.median_step_ms, or_empty(one.effect_percent),
                  one.bytes_per_s, one.operations_per_s, one.run.options);
    table.finish();
}

void write_effects(const fs::path& file, const std::vector<CollectedEffect>& effects)
{
    CsvWriter table{file,
                    {"model", "data", "strategy", "ranks", "noise", "level", "cores", "blocks", "effect_percent",
                     "low_percent", "high_percent", "p_holm", "verdict", "options"},
                    CsvWriter::Appear::whole};
    for (const CollectedEffect& effect : effects) {
        const auto bound = [&](double base::Interval::*which) {
            return effect.interval ? base::format((*effect.interval).*which) : "";
        };
        table.row(effect.of.model, effect.of.data, effect.of.strategy, trained(effect.of), effect.of.noise,
                  effect.of.level, effect.of.cores, effect.blocks, effect.effect_percent, bound(&base::Interval::low),
                  bound(&base::Interval::high), effect.p_holm, effect.verdict, effect.of.options);
    }
    table.finish();
}

void write_designed(const fs::path& file, const std::vector<DesignedEffect>& effects)
{
    CsvWriter table{file,
                    {"run", "block", "model", "data", "strategy", "ranks", "cores", "schedule", "factor",
                     "effect_percent", "low_percent", "high_percent", "verdict", "trustworthy", "options"},
                    CsvWriter::Appear::whole};
    for (const DesignedEffect& one : effects)
        table.row(one.run.name, one.run.block, one.run.model, one.run.data, one.run.strategy, trained(one.run),
                  one.run.cores, one.run.schedule, one.factor, one.effect_percent, one.low_percent, one.high_percent,
                  one.verdict, one.trustworthy ? 1 : 0, one.run.options);
    table.finish();
}

void write_left_out(const fs::path& file, const std::vector<LeftOut>& left_out)
{
    CsvWriter table{file, {"run", "block", "noise", "level", "cores", "attempt", "reason"}, CsvWriter::Appear::whole};
    for (const LeftOut& one : left_out)
        table.row(one.run.name, one.run.block, one.run.noise, one.run.level, one.run.cores, one.attempt, one.reason);
    table.finish();
}

bool same_training(const PlannedRun& a, const PlannedRun& b)
{
    return a.model == b.model && a.data == b.data && a.strategy == b.strategy && a.ranks == b.ranks &&
           a.options == b.options;
}

// Directories of the runs of this training with this treatment.
std::vector<std::string> directories(const CampaignDirectory& campaign, const Collection& collection,
                                     const PlannedRun& training, const std::string& treatment)
{
    std::vector<std::string> found;
    for (const CollectedRun& one : collection.runs)
        if (same_training(one.run, training) && treatment_name(one.run) == treatment)
            found.push_back(campaign.finished(one.run).string());
    return found;
}

// Makes interference's comparison of the same runs: phases and aligned steps. It needs two runs on each side.
void compare(const CampaignDirectory& campaign, const Collection& collection, CollectedEffect& effect,
             const fs::path& report, const std::string& name)
{
    const auto quiet = directories(campaign, collection, effect.of, base::campaign::no_noise);
    const auto noisy = directories(campaign, collection, effect.of, treatment_name(effect.of));
    if (quiet.size() < 2 || noisy.size() < 2) return;
    std::vector<std::string> words{program("interference"),
                                   "compare",
                                   "--out",
                                   (report / name).string(),
                                   "--budget",
                                   campaign.spec().budget,
                                   "--warmup",
                                   std::to_string(campaign.spec().warmup),
                                   "--quiet"};
    words.insert(words.end(), quiet.begin(), quiet.end());
    words.emplace_back("--noisy");
    words.insert(words.end(), noisy.begin(), noisy.end());
    const fs::path log = report / (name + ".log");
    if (wait_for(*start({.words = words, .folder = {}, .output = log, .errors = log}, {})) == base::exit_fine)
        effect.comparison = name + "/index.html";
    else
        base::warn("no comparison for ", treatment_name(effect.of), ": see ", base::part::report, "/", name, ".log");
}

}  // namespace

void write_report(const CampaignDirectory& campaign, Collection& collection)
{
    const fs::path wanted = campaign.path() / base::part::report;
    const fs::path fresh = campaign.path() / "report-new";
    base::remove_tree(fresh);  // may be left by a killed process
    base::WholeDirectory report{fresh};
    write_runs(report.path() / base::campaign::run_table, collection.runs);
    write_effects(report.path() / base::campaign::effect_table, collection.effects);
    write_designed(report.path() / base::campaign::designed_table, collection.designed);
    write_left_out(report.path() / base::campaign::left_out_table, collection.left_out);
    int number = 0;
    for (CollectedEffect& effect : collection.effects)
        compare(campaign, collection, effect, report.path(), base::join("compare-", ++number));
    write_page(report.path(), campaign, collection);
    report.finish();
    base::replace_directory(fresh, wanted);
}

}  // namespace crosstalk
