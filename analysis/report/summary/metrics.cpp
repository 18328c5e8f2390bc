// SPDX-License-Identifier: Apache-2.0
// Formats the newest runs of a summary as metrics for Prometheus.
//
// node_exporter's textfile collector reads Prometheus' older text format, which lacks `stateset` and refuses a file
// with one. So a verdict is a gauge for each verdict word, which both formats have. Prometheus assigns the labels `job`
// and `instance` to what it scrapes, so the training is the label `workload`.
#include "analysis/report/summary/summary.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/verdict_words.hpp"
#include "base/error.hpp"

#include <algorithm>

namespace analysis {

namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

Labels labels_of(const RunSummary& run)
{
    return {{"workload", run.model},          {"data", run.data},           {"strategy", run.strategy},
            {"ranks", base::join(run.ranks)}, {"node_type", run.node_type}, {"hosts", run.hosts},
            {"noises", noises_in(run)}};
}

base::MetricFamily gauge(const std::string& name, const std::string& unit, const std::string& help)
{
    base::MetricFamily family;
    family.name = "crosstalk_" + name + (unit.empty() ? "" : "_" + unit);
    family.unit = unit;
    family.help = help;
    return family;
}

Labels with(Labels labels, const std::string& name, const std::string& value)
{
    labels.emplace_back(name, value);
    return labels;
}

// Start of the last trustworthy run of the series; 0 if there is none.
double trusted_s(const Summary& summary, const RunSummary& newest)
{
    std::int64_t last = 0;
    for (const RunSummary& run : summary.runs)
        if (run.trustworthy && series_of(run) == series_of(newest)) last = std::max(last, run.started_s.value_or(0));
    return static_cast<double>(last);
}

}  // namespace

std::vector<base::MetricFamily> metrics_of(const Summary& summary)
{
    base::MetricFamily effect = gauge("effect", "ratio", "Slowdown of a step under this noise; 0.02: 2 %.");
    base::MetricFamily low = gauge("effect_low", "ratio", "Lower end of the effect's confidence interval.");
    base::MetricFamily high = gauge("effect_high", "ratio", "Upper end of the effect's confidence interval.");
    base::MetricFamily verdict = gauge("verdict", "", "1 for the word that is the verdict on this noise, else 0.");
    base::MetricFamily trust = gauge("trustworthy", "", "1 if the newest report is trustworthy, else 0.");
    base::MetricFamily budget =
        gauge("budget", "ratio", "Acceptable slowdown of a step, the budget of the newest run.");
    base::MetricFamily step = gauge("quiet_step", "seconds", "Mean step without noise in the newest run.");
    base::MetricFamily started = gauge("run_timestamp", "seconds", "Start of the newest run, since 1970.");
    base::MetricFamily trusted = gauge("trustworthy_run_timestamp", "seconds",
                                       "Start of the last trustworthy run, since 1970; 0: there is none.");
    for (const std::size_t index : newest_runs(summary)) {
        const RunSummary& run = summary.runs[index];
        const Labels labels = labels_of(run);
        trust.values.push_back({labels, run.trustworthy ? 1.0 : 0.0});
        budget.values.push_back({labels, run.budget_percent / 100.0});
        step.values.push_back({labels, run.quiet_step_ms / 1000.0});
        started.values.push_back({labels, static_cast<double>(run.started_s.value_or(0))});
        trusted.values.push_back({labels, trusted_s(summary, run)});
        for (const NoiseInRun& noise : run.noises) {
            const Labels of_noise = with(labels, "noise", base::factor_name(noise.factor, noise.level));
            effect.values.push_back({of_noise, noise.percent / 100.0});
            low.values.push_back({of_noise, noise.interval.low / 100.0});
            high.values.push_back({of_noise, noise.interval.high / 100.0});
            if (noise.tried) continue;
            for (const char* word :
                 {base::verdict_word::safe, base::verdict_word::unsafe, base::verdict_word::undecided,
                  base::verdict_word::insensitive, base::verdict_word::untrusted})
                verdict.values.push_back({with(of_noise, "verdict", word), noise.verdict == word ? 1.0 : 0.0});
        }
    }
    return {effect, low, high, verdict, trust, budget, step, started, trusted};
}

}  // namespace analysis
