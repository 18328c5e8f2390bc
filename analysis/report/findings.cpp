#include "analysis/report/findings.hpp"

#include "analysis/report/again.hpp"
#include "analysis/report/answer.hpp"
#include "analysis/report/decomposition_report.hpp"
#include "analysis/report/gpu.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/record.hpp"
#include "analysis/report/waits.hpp"
#include "base/contract/factor_name.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>

namespace analysis {

namespace {

using base::join;
using Json = nlohmann::ordered_json;

Check check_of(const std::string& name, const std::optional<Control>& control, const std::string& truth,
               const std::string& meaning)
{
    if (!control) return {false, name, "not in the schedule", meaning};
    const bool seen = !control->judged || !control->connected || control->found;
    return {control->holds && seen, name, signed_percent(control->percent.value) + ", true value " + truth,
            meaning + " Interval " + range(control->interval) +
                (seen ? "." : ": too wide to tell it from nothing, or beside it. This run is not sensitive.")};
}

std::string cost_of_sham(const Verdict& verdict)
{
    if (!verdict.sham) return "";
    return join(" The barriers around it cost ", signed_percent(verdict.sham->percent.value),
                " in its own slots and its sham's, and nothing elsewhere.");
}

std::string with_blank_before(const std::string& sentence)
{
    return sentence.empty() ? "" : " " + sentence;
}

Check check_of_order(const Experiment& plan)
{
    if (plan.randomised())
        return {true, "Order of the noise", "random, " + text(plan.design),
                "No rhythm of the machine can pass for an effect."};
    return {false, "Order of the noise", "not random",
            "A fixed sequence: a rhythm of the machine with the same period would pass for an effect, "
            "and p-values come from the t test instead of re-randomisation."};
}

std::size_t count_of(const Analysis& analysis, LeftOut reason)
{
    const auto found = analysis.counts.find(reason);
    return found == analysis.counts.end() ? 0 : found->second;
}

Check check_of_outliers(const Analysis& analysis)
{
    const std::string found = join(analysis.long_steps.count(), " of ", counted(steps_looked_at(analysis), "step"));
    if (!analysis.long_steps.rare)
        return {false, "Outliers", found,
                "Too many under one noise for accidents, so they stay in the estimate; intervals are wider."};
    std::vector<std::string> charged;
    for (const AccidentRate& rate : analysis.accident_rates)
        if (rate.charged) charged.push_back(base::factor_name(rate.factor, rate.level));
    if (!charged.empty())
        return {false, "Outliers", found,
                join("Their excess time counts in the effects of ", base::join_words(charged, ", "),
                     ", beside which they take more of it than without noise. Of other noises it is set aside.")};
    return {
        true, "Outliers", found,
        "No noise has more of them than chance explains. Their excess time is set aside; with it intervals are wider."};
}

// A row for each effect on the job's step; in a factorial its kind stands in a column of its own.
NoiseTable table_of_effects(const Report& report, const std::string& title, const std::vector<std::string>& columns,
                            const std::function<std::vector<NoiseTable::Cell>(const Effect&)>& cells)
{
    const bool factorial = report.run.plan.design == Design::factorial;
    NoiseTable table{.title = title, .head = {"Noise"}, .rows = {}, .note = ""};
    if (factorial) table.head.emplace_back("kind");
    table.head.insert(table.head.end(), columns.begin(), columns.end());
    for (const Effect& effect : of(report.analysis.effects, Family::step))
        if (effect.rank == all_ranks && effect.phase == "step")
            table.rows.push_back({effect.factor, effect.level, factorial ? text(effect.kind) : "", cells(effect)});
    return table;
}

NoiseTable effects_by_phase(const Report& report)
{
    std::vector<std::string> columns{"step"};
    columns.insert(columns.end(), report.run.steps.phases.begin(), report.run.steps.phases.end());
    NoiseTable table = table_of_effects(report, "Effects by phase, all ranks", columns, [&](const Effect& effect) {
        std::vector<NoiseTable::Cell> cells;
        for (const std::string& phase : columns) {
            const Effect* here = find(report.analysis.effects, effect.factor, effect.level, effect.kind, phase);
            cells.push_back(cell_of(here, report.verdict.confidence));
            cells.back().strong = here->p_holm <= 0.05;
        }
        return cells;
    });
    table.note =
        join("Percent of the quiet mean step, ± half of the ", 100.0 * report.verdict.confidence, " % interval. ",
             "Strong: differs from zero with p ≤ 0.05 after Holm's correction over all noises and phases. "
             "Phases add up to the step.");
    if (report.run.plan.design == Design::factorial)
        table.note +=
            " Alone: this noise against quiet. Average: with it against without it, whatever else was on. "
            "Interaction: what two together cost beyond the sum of each.";
    return table;
}

NoiseTable split_of_step(const Report& report)
{
    const std::vector<std::string> measures{"critical_compute", "exposed_transfer", "after_exchange", "waiting",
                                            "transfer_min"};
    const std::vector<std::string> columns{"own work, slowest rank", "transfer", "after the exchange",
                                           "waiting for a rank", "shortest exchange"};
    NoiseTable table = table_of_effects(report, "Own slowdown, transfer, waiting", columns, [&](const Effect& effect) {
        std::vector<NoiseTable::Cell> cells;
        for (const std::string& measure : measures)
            cells.push_back(cell_of(find(report.analysis.effects, effect.factor, effect.level, effect.kind, measure,
                                         all_ranks, Family::measure),
                                    report.verdict.confidence));
        return cells;
    });
    table.note = "The first three columns add up to the step.";
    return table;
}

NoiseTable effects_by_rank(const Report& report)
{
    const std::vector<RankSteps>& ranks = report.run.steps.ranks;
    const bool with_buckets = !report.run.extra_names.empty();
    std::vector<std::string> columns;
    for (const RankSteps& rank : ranks) columns.push_back(join("rank ", rank.rank, " step"));
    if (with_buckets)
        for (const RankSteps& rank : ranks) columns.push_back(join("rank ", rank.rank, " ready"));
    NoiseTable table = table_of_effects(report, "Rank by rank", columns, [&](const Effect& effect) {
        std::vector<NoiseTable::Cell> cells;
        const auto add = [&](const std::string& measure, int rank, Family family) {
            cells.push_back(
                cell_of(find(report.analysis.effects, effect.factor, effect.level, effect.kind, measure, rank, family),
                        report.verdict.confidence));
        };
        for (const RankSteps& rank : ranks) add("step", rank.rank, Family::step);
        if (with_buckets)
            for (const RankSteps& rank : ranks) add(join("ready rank ", rank.rank), all_ranks, Family::measure);
        return cells;
    });
    table.note =
        "Ranks that exchange gradients wait for the slowest, so their steps slow down alike. "
        "Phases by rank: effects.csv.";
    return table;
}

// Empty where the effect with outliers and that without are the same against the budget.
std::string where_outliers_decide(const Report& report, const AccidentRate& rate)
{
    const auto percent_of = [&](const char* measure) {
        const Effect* effect =
            find(report.analysis.effects, rate.factor, rate.level, Kind::alone, measure, all_ranks, Family::measure);
        return effect == nullptr ? 0.0 : effect->percent.value;
    };
    const double with = percent_of(step_with_outliers);
    const double without = percent_of(step_without_outliers);
    if (std::abs(with - without) <= report.verdict.budget_percent) return "";
    return join(" With outliers ", base::factor_name(rate.factor, rate.level), " costs ", signed_percent(with),
                ", without them ", signed_percent(without), ".");
}

NoiseTable outliers(const Report& report)
{
    NoiseTable table{
        .title = "Outliers and the median step",
        .head = {"Noise", "outliers, share of steps", "share of time", "p against quiet", "effect on the median step"},
        .rows = {},
        .note = "A verdict uses the mean step, because that is throughput."};
    for (const AccidentRate& rate : report.analysis.accident_rates) {
        const Effect* median = find(report.analysis.effects, rate.factor, rate.level, Kind::alone, "median step",
                                    all_ranks, Family::measure);
        const std::string effect = median == nullptr
                                       ? ""
                                       : join(signed_percent(median->percent.value), " (",
                                              range(median->percent.interval(report.verdict.confidence)), ")");
        table.rows.push_back({rate.factor,
                              rate.level,
                              "",
                              {{fixed(rate.percent_of_steps, 2) + " %", ""},
                               {fixed(rate.percent_of_time, 2) + " %", ""},
                               {rate.factor == "quiet" ? "" : p_value(rate.p), ""},
                               {effect, ""}}});
        table.note += where_outliers_decide(report, rate);
    }
    return table;
}

// The time of the first rank by treatment and reason; time.csv has all ranks.
NoiseTable time_by_treatment(const Report& report)
{
    std::vector<std::string> reasons{"used"};
    std::vector<std::string> treatments;
    std::map<std::pair<std::string, std::string>, double> seconds;
    for (const TimeRow& row : report.time) {
        if (row.rank != report.time.front().rank) continue;
        if (std::find(reasons.begin(), reasons.end(), row.reason) == reasons.end()) reasons.push_back(row.reason);
        if (std::find(treatments.begin(), treatments.end(), row.treatment) == treatments.end())
            treatments.push_back(row.treatment);
        seconds[{row.treatment, row.reason}] += static_cast<double>(row.ns) / 1e9;
    }
    NoiseTable table{
        .title = "Where the training's time is",
        .head = {"Step begins under"},
        .rows = {},
        .note =
            "Seconds of the first rank, by the treatment in whose slot a step begins, and why they are not in the "
            "estimate: each nanosecond once (time.csv). Outliers: what they took beyond ordinary steps; "
            "under a noise to which they are charged they are used."};
    for (const std::string& reason : reasons) table.head.push_back(reason);
    for (const std::string& treatment : treatments) {
        NoiseTable::Row row{.factor = treatment.empty() ? "no slot" : treatment, .level = "", .kind = "", .cells = {}};
        for (const std::string& reason : reasons) {
            const auto found = seconds.find({treatment, reason});
            row.cells.push_back({found == seconds.end() ? "–" : fixed(found->second, 2), ""});
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

// One value of a record as text, whatever its type.
std::string shown(const Json& json, const std::string& key)
{
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) return "";
    if (found->is_string()) return found->get<std::string>();
    const auto plain = [](const Json& one) {
        return one.is_string() ? one.get<std::string>() : one.dump(-1, ' ', false, Json::error_handler_t::replace);
    };
    std::vector<std::string> words;
    if (found->is_array())
        for (const auto& word : *found) words.push_back(base::shell_word(plain(word)));
    else if (found->is_object())
        for (const auto& [name, value] : found->items()) words.push_back(name + "=" + base::shell_word(plain(value)));
    else
        return plain(*found);
    return base::join_words(words, " ");
}

// A member of the record, or of its part "training".
std::string shown_anywhere(const Json& record, const std::string& key)
{
    std::string value = shown(record, key);
    if (!value.empty()) return value;
    const auto training = record.find("training");
    return training != record.end() && training->is_object() ? shown(*training, key) : "";
}

// From a member in units per second; empty if there is none, or nothing was done.
std::string speed(double per_s, double unit, const std::string& name)
{
    return per_s > 0.0 ? fixed(per_s / unit, 2) + name : "";
}

}  // namespace

NoiseTable::Cell cell_of(const Effect* effect, double confidence)
{
    if (effect == nullptr) return {"–", ""};
    const double half = effect->percent.interval(confidence).half_width();
    // What is zero to two digits is only "0".
    if (std::abs(effect->percent.value) + half < 0.005) return {.value = "0", .half = "", .zero = true};
    return {fixed(effect->percent.value, 2), fixed(half, 2)};
}

std::vector<Check> checks(const Report& report)
{
    const Verdict& verdict = report.verdict;
    const Analysis& analysis = report.analysis;
    std::vector<Check> all;
    all.push_back(check_of("Placebo: noise that does nothing", verdict.placebo, "0 %", "Must measure as nothing."));
    if (verdict.delay || !verdict.pause)
        all.push_back(
            check_of("Control: a delay of known length", verdict.delay, truth_of(verdict.delay),
                     "Asked of the training, and recorded by it. Must measure, against its sham, as what it was." +
                         cost_of_sham(verdict) + with_blank_before(absorption(report))));
    if (verdict.pause)
        all.push_back(check_of(
            "Control: pauses of known length", verdict.pause, truth_of(verdict.pause),
            verdict.pause->judged ? "All processes of the training stopped. Must measure as what was stopped."
                                  : "Not judged: the training computes while its processes are stopped, as on a GPU."));
    all.push_back({verdict.covered, "Noise covered the training",
                   fixed(100.0 * analysis.covered_share, 1) + " % after its warm-up",
                   "By the noise's own record, on the clock of each node."});
    all.push_back({analysis.blocks >= 5, "Independent repetitions",
                   counted(static_cast<std::size_t>(analysis.blocks), "block"),
                   join("Each holds every noise and quiet", report.run.plan.randomised() ? ", in random order" : "",
                        "; ", counted(static_cast<std::size_t>(analysis.dropped_blocks), "incomplete block"),
                        " left out. Intervals rest on blocks, not on steps.")});
    all.push_back(check_of_order(report.run.plan));
    all.push_back(check_of_outliers(analysis));
    return all;
}

std::size_t steps_looked_at(const Analysis& analysis)
{
    return count_of(analysis, LeftOut::no) + count_of(analysis, LeftOut::outlier);
}

std::string steps_used(const Analysis& analysis)
{
    std::vector<std::string> parts;
    for (const auto& [reason, count] : analysis.counts)
        if (reason != LeftOut::no && count > 0) parts.push_back(join(count, " (", text(reason), ")"));
    return join(counted(count_of(analysis, LeftOut::no), "step"), " used; ",
                parts.empty() ? "none left out" : "left out: " + base::join_words(parts, ", "), ".");
}

std::vector<NoiseTable> noise_tables(const Report& report)
{
    constexpr std::size_t most_ranks = 8;  // of more, the table would be too wide
    const std::size_t ranks = report.run.steps.ranks.size();
    std::vector<NoiseTable> tables{effects_by_phase(report)};
    if (!report.run.extra_names.empty()) tables.push_back(split_of_step(report));
    if (const auto all = decompositions(report); !all.empty()) tables.push_back(table_of(all));
    if (ranks > 1 && ranks <= most_ranks) tables.push_back(effects_by_rank(report));
    tables.push_back(outliers(report));
    if (!report.time.empty()) tables.push_back(time_by_treatment(report));
    const std::vector<NoiseTable> of_waits = wait_tables(report);
    tables.insert(tables.end(), of_waits.begin(), of_waits.end());
    const std::vector<NoiseTable> of_gpus = gpu_tables(report);
    tables.insert(tables.end(), of_gpus.begin(), of_gpus.end());
    return tables;
}

std::vector<Fact> facts(const Json& record)
{
    constexpr std::size_t longest = 2000;
    const std::vector<std::pair<std::string, std::string>> wanted{{"command_line", "command"},
                                                                  {"host", "host"},
                                                                  {"cpu_model", "processor"},
                                                                  {"cpus", "CPUs used"},
                                                                  {"kernel", "kernel"},
                                                                  {"started", "started"},
                                                                  {"ranks", "processes"},
                                                                  {"model", "model"},
                                                                  {"data", "data"},
                                                                  {"strategy", "strategy"},
                                                                  {"batch", "batch"},
                                                                  {"transport", "transport"},
                                                                  {"schedule", "schedule"},
                                                                  {"seed", "seed"},
                                                                  {"avoided_cpus", "CPUs avoided"},
                                                                  {"clock_identity", "clock"},
                                                                  {"environment", "environment"},
                                                                  {"version", "Crosstalk"},
                                                                  {"git_revision", "revision"}};
    std::vector<Fact> all;
    for (const auto& [key, name] : wanted) {
        const std::string value = shown_anywhere(record, key);
        if (!value.empty() && value != "{}") all.push_back({name, value.substr(0, longest)});
    }
    return all;
}

std::vector<LevelDone> levels_done(const Json& record)
{
    std::vector<LevelDone> all;
    for (const Json& level : list_in(record, "factor_levels"))
        if (level.is_object())
            all.push_back({shown(level, "factor"), shown(level, "level"), shown(level, "stressor"),
                           shown(level, "slots"), speed(dose_in(level, "bytes"), 1e9, " GB/s"),
                           speed(dose_in(level, "operations"), 1.0, " /s")});
    return all;
}

std::vector<std::string> not_said(const Report& report)
{
    const Slot& slot = report.run.slots.front().front();
    const std::string length_s = fixed(static_cast<double>(slot.end_ns - slot.begin_ns) / 1e9, 2);
    return {
        "It holds for this training, on these nodes, with this noise on these cores. "
        "Another model, another number of ranks or another machine is another measurement.",
        "A noise was on for " + length_s +
            " s at a time. Effects that take longer to build up (caches on disk, heat, quotas) do not show.",
        "Outliers that are set aside are not in the slowdown; their rate under each noise is in the table above.",
        report.verdict.looked
            ? "Intervals hold at every look at the run; p-values, too. Medians and outliers are those of the run's end."
            : "The length of a run should be fixed beforehand. "
              "Measuring until the interval looks narrow makes it too narrow."};
}

}  // namespace analysis
