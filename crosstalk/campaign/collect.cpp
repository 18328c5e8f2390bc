// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/collect.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/verdict_words.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/proof.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr double confidence = 0.95;

double mean(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void read_steps(CollectedRun& one, const fs::path& run, int warmup)
{
    const std::vector<double> lengths_ms = cycles_ms(run / base::part::train / base::file::steps, warmup);
    if (lengths_ms.empty()) base::fail(run.string(), " has no steps after the warm-up");
    one.steps = lengths_ms.size();
    one.step_ms = mean(lengths_ms);
    one.median_step_ms = base::median(lengths_ms);
}

// Rates per second of each noise CPU, summed over CPUs.
void read_rates(CollectedRun& one, const fs::path& run)
{
    struct Done {
        double bytes = 0.0;
        double operations = 0.0;
        double seconds = 0.0;
    };
    if (!fs::exists(run / base::part::noise)) return;
    std::map<std::string, Done> by_cpu;
    for (const auto& part : fs::directory_iterator{run / base::part::noise}) {
        if (!fs::exists(part.path() / base::file::noise_rows)) continue;
        const base::CsvTable rows{part.path() / base::file::noise_rows};
        for (std::size_t row = 0; row < rows.rows(); ++row) {
            Done& done = by_cpu[rows.text(row, "host") + " " + rows.text(row, "cpu")];
            done.bytes += rows.get<double>(row, "bytes");
            done.operations += rows.get<double>(row, "operations");
            done.seconds +=
                static_cast<double>(rows.get<std::int64_t>(row, "end_ns") - rows.get<std::int64_t>(row, "begin_ns")) /
                1e9;
        }
    }
    for (const auto& [cpu, done] : by_cpu) {
        if (done.seconds <= 0.0) continue;
        one.bytes_per_s += done.bytes / done.seconds;
        one.operations_per_s += done.operations / done.seconds;
    }
}

CollectedRun collected(const CampaignDirectory& campaign, const PlannedRun& run)
{
    const fs::path directory = campaign.finished(run);
    CollectedRun one;
    one.run = run;
    const auto record = base::read_json(directory / base::part::train / base::file::run_record);
    one.started = record.value("started", "");
    const auto status = status_of(directory);
    one.attempt = status ? status->value("attempt", 1) : 1;
    one.hosts = record.value("host", "");
    // A designed run of a program whose MPI calls are recorded leaves no table of steps.
    if (!fs::exists(directory / base::part::train / base::file::steps)) return one;
    std::vector<std::string> hosts;
    for (const auto& [host, part] : training_by_node(directory, campaign.spec().warmup, {})) hosts.push_back(host);
    one.hosts = base::join_words(hosts, " ");
    read_steps(one, directory, campaign.spec().warmup);
    read_rates(one, directory);
    return one;
}

// Adds the rows of a designed run's report; none if the report has no numbers.
void add_designed(std::vector<DesignedEffect>& effects, const fs::path& directory, const PlannedRun& run)
{
    const auto verdict = base::read_json(directory / base::part::report / base::file::verdict);
    for (const auto& [name, factor] : verdict.at("factors").items()) {
        DesignedEffect& effect = effects.emplace_back();
        effect.run = run;
        effect.factor = name;
        effect.effect_percent = factor.value("effect_percent", 0.0);
        effect.low_percent = factor.value("low_percent", 0.0);
        effect.high_percent = factor.value("high_percent", 0.0);
        effect.verdict = factor.value("verdict", "");
        effect.trustworthy = verdict.value("trustworthy", false);
    }
}

// Adds attempts that do not count, and the run itself if there was no attempt.
void add_left_out(std::vector<LeftOut>& left_out, const CampaignDirectory& campaign, const PlannedRun& run)
{
    const int failures = campaign.failures(run);
    for (int attempt = 1; attempt <= failures; ++attempt) {
        const auto status = status_of(campaign.failed(run, attempt));
        left_out.push_back({run, attempt, status ? status->value("reason", "unknown") : "unknown"});
    }
    if (failures == 0 && !campaign.is_done(run)) left_out.push_back({run, 0, "not made yet"});
}

auto training_and_treatment(const PlannedRun& run)
{
    return std::tuple{run.model, run.data, run.strategy, run.ranks, run.options, run.noise, run.level, run.cores};
}

}  // namespace

std::vector<double> cycles_ms(const fs::path& steps, int warmup)
{
    struct Open {
        std::int64_t step = 0;
        std::int64_t begin_ns = 0;
        std::int64_t end_ns = 0;
    };
    const base::CsvTable table{steps};
    std::map<std::int64_t, Open> open;  // keyed by rank
    std::vector<double> lengths_ms;
    const auto close = [&lengths_ms](const Open& step, std::int64_t end_ns) {
        lengths_ms.push_back(static_cast<double>(end_ns - step.begin_ns) / 1e6);
    };
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const Open next{table.get<std::int64_t>(row, "step"), table.get<std::int64_t>(row, "begin_ns"),
                        table.get<std::int64_t>(row, "end_ns")};
        if (next.step < warmup) continue;
        const auto [found, is_first] = open.try_emplace(table.get<std::int64_t>(row, "rank"), next);
        if (is_first) continue;
        close(found->second, next.step == found->second.step + 1 ? next.begin_ns : found->second.end_ns);
        found->second = next;
    }
    for (const auto& [rank, step] : open) close(step, step.end_ns);
    return lengths_ms;
}

std::vector<CollectedEffect> effects_of(std::vector<CollectedRun>& runs, double budget_percent)
{
    std::map<int, std::vector<double>> quiet_ms;
    for (const CollectedRun& one : runs)
        if (one.run.noise == base::campaign::no_noise) quiet_ms[one.run.block].push_back(one.step_ms);

    using Key = decltype(training_and_treatment(PlannedRun{}));
    std::map<Key, std::vector<double>> percents;
    std::map<Key, PlannedRun> of;
    for (CollectedRun& one : runs) {
        if (one.run.noise == base::campaign::no_noise || one.run.noise == base::campaign::designed) continue;
        const auto quiet = quiet_ms.find(one.run.block);
        if (quiet == quiet_ms.end()) continue;
        one.effect_percent = 100.0 * (one.step_ms / mean(quiet->second) - 1.0);
        const Key key = training_and_treatment(one.run);
        percents[key].push_back(*one.effect_percent);
        of.emplace(key, one.run);
    }

    std::vector<CollectedEffect> effects;
    std::vector<double> p;
    for (const auto& [key, values] : percents) {
        CollectedEffect& effect = effects.emplace_back();
        effect.of = of.at(key);
        effect.blocks = values.size();
        effect.effect_percent = mean(values);
        p.push_back(1.0);
        if (values.size() >= 2) {
            const base::Mean over_blocks = base::mean_of(values);
            effect.interval = over_blocks.interval(confidence);
            p.back() = over_blocks.p_value();
        }
        effect.verdict =
            effect.interval ? base::judge(*effect.interval, budget_percent) : base::verdict_word::undecided;
    }
    const std::vector<double> adjusted = base::holm(p);
    for (std::size_t i = 0; i < effects.size(); ++i) effects[i].p_holm = adjusted[i];
    return effects;
}

void order_as_in(const Spec& spec, std::vector<CollectedEffect>& effects)
{
    const Plan ordered = combinations(spec);
    const auto place = [&](const CollectedEffect& effect) {
        return std::find_if(ordered.begin(), ordered.end(), [&](const PlannedRun& run) {
            return training_and_treatment(run) == training_and_treatment(effect.of);
        });
    };
    std::stable_sort(effects.begin(), effects.end(),
                     [&](const CollectedEffect& a, const CollectedEffect& b) { return place(a) < place(b); });
}

Collection collect(const CampaignDirectory& campaign)
{
    Collection all;
    for (const PlannedRun& run : campaign.plan()) {
        add_left_out(all.left_out, campaign, run);
        if (!campaign.is_done(run)) continue;
        try {
            all.runs.push_back(collected(campaign, run));
            if (run.noise == base::campaign::designed) add_designed(all.designed, campaign.finished(run), run);
        } catch (const nlohmann::json::exception& error) {
            base::fail("a record in ", campaign.finished(run).string(), " is malformed: ", error.what());
        }
    }
    if (all.runs.empty()) base::fail("no complete run yet (crosstalk campaign run ", campaign.path().string(), ")");
    const auto budget = base::parse<base::Percent>(campaign.spec().budget);
    all.effects = effects_of(all.runs, budget.value);
    order_as_in(campaign.spec(), all.effects);
    return all;
}

}  // namespace crosstalk
