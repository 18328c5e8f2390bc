#include "analysis/report/writers/csv.hpp"

#include "analysis/report/decomposition_report.hpp"
#include "analysis/report/further/further.hpp"
#include "analysis/report/further/harvest_report.hpp"
#include "analysis/report/identity.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/record.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace analysis {

namespace {

// factor,level,phase,rank,kind,effect_percent,low_percent,high_percent,p_holm,steps, then p,blocks
void write_effects(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"factor", "level", "phase", "rank", "kind", "effect_percent", "low_percent", "high_percent",
                           "p_holm", "steps", "p", "blocks"}};
    for (const Effect& effect : of(report.analysis.effects, Family::step)) {
        const Interval interval = effect.percent.interval(report.verdict.confidence);
        table.row(effect.factor, effect.level, effect.phase,
                  effect.rank == all_ranks ? "all" : std::to_string(effect.rank), text(effect.kind),
                  effect.percent.value, interval.low, interval.high, effect.p_holm, effect.steps, effect.p,
                  report.analysis.blocks);
    }
}

// rank,step,block,used,reason, then one column per factor, 0 to 1
void write_exposure(const std::filesystem::path& file, const Report& report)
{
    const std::vector<std::string> factors = factor_names(report.run.plan);
    std::vector<std::string> columns{"rank", "step", "block", "used", "reason"};
    columns.insert(columns.end(), factors.begin(), factors.end());
    base::CsvWriter table{file, columns};
    const Exposures& exposures = report.analysis.exposures;
    for (std::size_t r = 0; r < report.run.steps.ranks.size(); ++r) {
        for (std::size_t i = 0; i < report.run.steps.numbers.size(); ++i) {
            const LeftOut reason = reason_of(report, i);
            std::vector<std::string> cells{std::to_string(report.run.steps.ranks[r].rank),
                                           std::to_string(report.run.steps.numbers[i]),
                                           exposures.block[i] < 0 ? "" : std::to_string(exposures.block[i]),
                                           exposures.left_out[i] == LeftOut::no ? "1" : "0", text(reason)};
            std::vector<double> shares(factors.size(), 0.0);
            for (const Overlap& overlap : exposures.ranks[r][i])
                for (const Assigned& on : report.run.plan.treatments[report.run.plan.treatment_of[overlap.slot]].on)
                    shares[static_cast<std::size_t>(std::find(factors.begin(), factors.end(), on.factor) -
                                                    factors.begin())] += overlap.share;
            for (const double share : shares) cells.push_back(fixed(std::min(1.0, share), 6));
            table.write(cells);
        }
    }
}

// One row a factor and level: who and where the run was, the verdict, its effect, forecast, cause and setting
void write_verdicts(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"hosts",
                           "model",
                           "data",
                           "strategy",
                           "ranks",
                           "started",
                           "trustworthy",
                           "covered",
                           "factor",
                           "level",
                           "stressor",
                           "kind",
                           "verdict",
                           "budget_percent",
                           "effect_percent",
                           "low_percent",
                           "high_percent",
                           "half_width_percent",
                           "p_holm",
                           "forecast_minutes",
                           "forecast_half_width_percent",
                           "phase",
                           "mechanism",
                           "cause",
                           "setting"}};
    const Identity run = identity(report);
    const Verdict& verdict = report.verdict;
    for (const FactorVerdict& factor : verdict.factors) {
        const auto forecast = [&](double Forecast::*member) {
            return factor.forecast ? fixed((*factor.forecast).*member, 4) : std::string{};
        };
        table.row(base::join_words(run.hosts, " "), run.model, run.data, run.strategy, run.ranks, run.started,
                  verdict.trustworthy ? 1 : 0, verdict.covered ? 1 : 0, factor.factor, factor.level, factor.stressor,
                  text(factor.kind), factor.verdict, verdict.budget_percent, factor.percent, factor.interval.low,
                  factor.interval.high, factor.interval.half_width(), factor.p_holm, forecast(&Forecast::minutes),
                  forecast(&Forecast::half_width_percent), factor.cause.phase, text(factor.cause.mechanism),
                  factor.cause.sentence, factor.setting);
    }
}

// As effects.csv, of what is no phase: the split of the step by its buckets, when each rank was ready, the median step
void write_measures(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{
        file, {"factor", "level", "measure", "kind", "effect_percent", "low_percent", "high_percent", "p", "steps"}};
    for (const Effect& effect : of(report.analysis.effects, Family::measure)) {
        const Interval interval = effect.percent.interval(report.verdict.confidence);
        table.row(effect.factor, effect.level, effect.phase, text(effect.kind), effect.percent.value, interval.low,
                  interval.high, effect.p, effect.steps);
    }
}

// factor,level,percent_of_steps,percent_of_time,p,counted,excess_percent,unmet_one_in
void write_outliers(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{
        file,
        {"factor", "level", "percent_of_steps", "percent_of_time", "p", "counted", "excess_percent", "unmet_one_in"}};
    for (const AccidentRate& rate : report.analysis.accident_rates)
        table.row(rate.factor, rate.level, rate.percent_of_steps, rate.percent_of_time, rate.p, rate.charged ? 1 : 0,
                  rate.excess_percent, rate.unmet_one_in);
}

// What each noise process says it did: host,factor,level,stressor,slots,bytes_per_s,operations_per_s
void write_factor_levels(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file, {"host", "factor", "level", "stressor", "slots", "bytes_per_s", "operations_per_s"}};
    for (const Record* record : noise_records(report))
        for (const nlohmann::ordered_json& level : list_in(record->json, "factor_levels"))
            table.row(word(record->json, "host"), word(level, "factor"), word(level, "level"), word(level, "stressor"),
                      number_in(level, "slots").value_or(0.0), dose_in(level, "bytes"), dose_in(level, "operations"));
}

template <std::size_t which>
void write_decomposition(const std::filesystem::path& file, const Report& report)
{
    decomposition_tables()[which].write(file, decompositions(report));
}

void write_time(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file, {"rank", "treatment", "reason", "steps", "seconds", "share_percent"}};
    const std::vector<TimeRow>& rows = report.time;
    for (const TimeRow& row : rows) {
        std::int64_t of_rank_ns = 0;
        for (const TimeRow& other : rows) of_rank_ns += other.rank == row.rank ? other.ns : 0;
        table.row(row.rank, row.treatment, row.reason, row.steps, fixed(static_cast<double>(row.ns) / 1e9, 9),
                  fixed(100.0 * static_cast<double>(row.ns) / static_cast<double>(of_rank_ns), 6));
    }
}

constexpr Table all[] = {
    {base::file::verdicts, write_verdicts},
    {base::file::effects, write_effects},
    {"measures.csv", write_measures},
    {"outliers.csv", write_outliers},
    {"time.csv", write_time},
    {"factor_levels.csv", write_factor_levels},
    {"exposure.csv", write_exposure},
    {"response.csv", write_response},
    {"carry_over.csv", write_carry_over},
    {"harvest.csv", write_harvest},
    {"decomposition.csv", write_decomposition<0>},
    {"rank_parts.csv", write_decomposition<1>},
    {"own_work.csv", write_decomposition<2>},
    {"causes.csv", write_decomposition<3>},
};

}  // namespace

std::span<const Table> tables()
{
    return all;
}

}  // namespace analysis
