// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/step_file.hpp"

#include "analysis/input/step_work/numbered_rows.hpp"
#include "base/columns/long_order.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/saturating.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <algorithm>
#include <map>

namespace analysis {

namespace {

constexpr const char* host_column = "host";
constexpr const char* other_column = "other_ns";

// Rows in the order of the file; sorted by number later.
struct RowsOfRank {
    std::string host;
    bool ascending = true;
    base::LongColumn<std::int64_t> number;
    base::LongColumn<std::size_t> line;
    RankSteps steps;
};

using Ranks = std::map<std::int64_t, RowsOfRank>;

// Columns of all phases except `other`, which is the rest of a step.
std::vector<std::string> phase_columns(const std::vector<std::string>& columns)
{
    std::vector<std::string> phases;
    for (const std::string& column : columns)
        if (column.ends_with("_ns") && column != "begin_ns" && column != "end_ns" && column != other_column)
            phases.push_back(column);
    return phases;
}

double in_ms(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e6;
}

// Phases of which some step has time. A table also has columns of those that its training never entered, which its
// archive does not list.
std::vector<bool> entered(const Ranks& ranks, std::size_t phases)
{
    std::vector<bool> has_time(phases, false);
    for (const auto& [number, rank] : ranks)
        for (std::size_t p = 0; p < phases; ++p)
            for (Eigen::Index i = 0; i < rank.steps.phase_ms.rows() && !has_time[p]; ++i)
                has_time[p] = rank.steps.phase_ms(i, static_cast<Eigen::Index>(p)) != 0.0;
    return has_time;
}

// A step and its phases, which follow each other within it.
struct Row {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::vector<double> phase_ms;
};

void read_step(const base::CsvRow& row, const std::vector<std::string>& phases, Row& step)
{
    step.begin_ns = row.get<std::int64_t>("begin_ns");
    step.end_ns = row.get<std::int64_t>("end_ns");
    step.phase_ms.clear();
    if (step.end_ns <= step.begin_ns) base::fail(row.place("end_ns"), ": the step ends before it begins");
    const std::int64_t length_ns = base::saturated_difference(step.end_ns, step.begin_ns);
    std::int64_t left_ns = length_ns;
    for (const std::string& phase : phases) {
        const auto ns = row.get<std::int64_t>(phase);
        if (ns < 0) base::fail(row.place(phase), ": a phase of ", ns, " ns");
        if (ns > left_ns) base::fail(row.place(phase), ": the phases take longer than the step's ", length_ns, " ns");
        left_ns -= ns;
        step.phase_ms.push_back(in_ms(ns));
    }
    step.phase_ms.push_back(in_ms(left_ns));
}

void append(RowsOfRank& rank, std::int64_t number, std::size_t line, const Row& step)
{
    rank.ascending = rank.ascending && (rank.number.empty() || rank.number.back() < number);
    rank.number.push_back(number);
    rank.line.push_back(line);
    rank.steps.begin_ns.push_back(step.begin_ns);
    rank.steps.end_ns.push_back(step.end_ns);
    rank.steps.phase_ms.append_row(step.phase_ms);
}

void take_host(RowsOfRank& rank, std::int64_t number, const base::CsvRow& row)
{
    const std::string& host = row.text(host_column);
    if (rank.host.empty()) rank.host = host;
    if (rank.host != host)
        base::fail(row.place(host_column), ": rank ", number, " on ", host, ", but before on ", rank.host);
}

void keep_rows(RowsOfRank& rank, const base::LongColumn<std::size_t>& rows)
{
    RowsOfRank kept;
    std::vector<double> phases(static_cast<std::size_t>(rank.steps.phase_ms.cols()));
    const RankSteps& steps = rank.steps;
    for (const std::size_t i : rows) {
        kept.number.push_back(std::as_const(rank.number)[i]);
        kept.steps.begin_ns.push_back(steps.begin_ns[i]);
        kept.steps.end_ns.push_back(steps.end_ns[i]);
        for (std::size_t p = 0; p < phases.size(); ++p)
            phases[p] = steps.phase_ms(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(p));
        kept.steps.phase_ms.append_row(phases);
    }
    rank.number = std::move(kept.number);
    rank.steps = std::move(kept.steps);
}

void put_in_order(RowsOfRank& rank, std::int64_t number, const std::filesystem::path& file)
{
    struct Place {
        std::int64_t step = 0;
        std::size_t row = 0;
        auto operator<=>(const Place&) const = default;
    };
    if (rank.ascending) return;
    base::LongColumn<Place> places;
    for (std::size_t i = 0; i < rank.number.size(); ++i) places.push_back({std::as_const(rank.number)[i], i});
    places = base::sorted(places, std::less<Place>{});
    base::LongColumn<std::size_t> rows;
    std::int64_t before = 0;
    for (const Place& place : places) {
        if (!rows.empty() && place.step == before)
            base::fail(file.string(), " line ", std::as_const(rank.line)[place.row], " column step: step ", place.step,
                       " of rank ", number, " occurs twice");
        before = place.step;
        rows.push_back(place.row);
    }
    keep_rows(rank, rows);
}

// Throws Error for overlapping steps: a rank does one step after the other.
void refuse_overlaps(const RowsOfRank& rank, std::int64_t number, const std::filesystem::path& file)
{
    constexpr std::int64_t rounding_ns = 1000;
    for (std::size_t i = 1; i < rank.number.size(); ++i)
        if (rank.steps.begin_ns[i] < base::saturated_difference(rank.steps.end_ns[i - 1], rounding_ns))
            base::fail(file.string(), ": step ", rank.number[i], " of rank ", number, " begins before step ",
                       rank.number[i - 1], " ends");
}

// Removes steps that some rank lacks, and returns their number.
std::size_t keep_common(Ranks& ranks)
{
    const base::LongColumn<std::int64_t>& first = ranks.begin()->second.number;
    const bool alike = std::all_of(ranks.begin(), ranks.end(), [&](const auto& rank) {
        return &rank.second.number == &first ||
               (rank.second.number.size() == first.size() && rank.second.number == first);
    });
    if (alike) return 0;
    std::vector<base::LongColumn<NumberedRow>> rows;
    for (const auto& [which, rank] : ranks) {
        base::LongColumn<NumberedRow>& of_rank = rows.emplace_back();
        for (std::size_t row = 0; row < rank.number.size(); ++row) of_rank.push_back({rank.number[row], row});
    }
    const CommonSteps common = common_steps(rows);
    std::size_t r = 0;
    for (auto& [which, rank] : ranks) keep_rows(rank, common.rows[r++]);
    return common.incomplete;
}

}  // namespace

StepFile read_step_file(const std::filesystem::path& file)
{
    otf2::now_reading(file);
    Ranks ranks;
    std::vector<std::string> phases;
    Row step;
    const bool whole = base::read_rows(file, [&](const base::CsvRow& row) {
        otf2::getting_on();
        if (ranks.empty()) phases = phase_columns(row.columns());
        const auto number = row.get<std::int64_t>("rank");
        const auto step_number = row.get<std::int64_t>("step");
        read_step(row, phases, step);
        RowsOfRank& rank = ranks[number];
        append(rank, step_number, row.line(), step);
        if (row.has(host_column)) take_host(rank, number, row);
    });
    if (ranks.empty()) base::fail(file.string(), " holds no complete step");
    for (auto& [number, rank] : ranks) {
        put_in_order(rank, number, file);
        refuse_overlaps(rank, number, file);
    }
    StepFile read;
    read.steps.cut_off = !whole;
    read.steps.incomplete = keep_common(ranks);
    std::vector<bool> kept = entered(ranks, phases.size());
    for (std::size_t p = 0; p < phases.size(); ++p)
        if (kept[p]) read.steps.phases.push_back(phases[p].substr(0, phases[p].size() - 3));
    read.steps.phases.emplace_back("other");
    kept.push_back(true);
    read.steps.numbers = ranks.begin()->second.number;
    for (auto& [number, rank] : ranks) {
        rank.steps.rank = static_cast<int>(number);
        rank.steps.phase_ms.keep_columns(kept);
        read.steps.ranks.push_back(std::move(rank.steps));
        read.host.push_back(rank.host);
    }
    return read;
}

}  // namespace analysis
