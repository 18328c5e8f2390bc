// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/step_work/recorded_work.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace analysis {

namespace {

double as_ms(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e6;
}

// A rank's row of the tables under construction.
struct RowOfWork {
    std::array<double, part_count> parts_ms{};
    std::vector<double> own_ms;

    double& part(Part which) { return parts_ms[static_cast<std::size_t>(which)]; }
};

// Fills in own work as recorded; where exchanges and own work cannot be separated, all of wait_exchange is waiting.
void fill_whole(RowOfWork& row, const RecordedWork& recorded, const WorkOfStep& step,
                const std::vector<std::size_t>& columns, bool waits_only)
{
    row.parts_ms.fill(0.0);
    row.own_ms.assign(columns.size(), 0.0);
    double rest = as_ms(step.end_ns - step.begin_ns);
    for (std::size_t k = 0; k < columns.size(); ++k) {
        if (columns[k] >= step.own_ns.size()) continue;
        const double ms = as_ms(step.own_ns[columns[k]]);
        const bool waits = waits_only && columns[k] == recorded.wait_column;
        row.part(waits ? Part::waiting : recorded.part_of[columns[k]]) += ms;
        if (!waits) row.own_ms[k] = ms;
        rest -= ms;
    }
    for (const CallTime& call : step.calls) rest -= as_ms(call.ns);
    row.part(Part::rest) = rest;
}

// Shortest time of any rank in the MPI calls of a step, call by call; if ranks made different calls, shortest total
// over all calls.
std::int64_t shortest_calls(const std::vector<WorkOfStep>& ranks)
{
    const std::vector<CallTime>& first = ranks.front().calls;
    std::vector<std::int64_t> shortest;
    for (const CallTime& call : first) shortest.push_back(call.ns);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    bool alike = true;
    for (const WorkOfStep& rank : ranks) {
        const std::vector<CallTime>& calls = rank.calls;
        alike = alike && std::equal(first.begin(), first.end(), calls.begin(), calls.end(),
                                    [](const CallTime& a, const CallTime& b) { return a.region == b.region; });
        std::int64_t sum = 0;
        for (std::size_t n = 0; n < calls.size(); ++n) {
            sum += calls[n].ns;
            if (n < shortest.size()) shortest[n] = std::min(shortest[n], calls[n].ns);
        }
        least = std::min(least, sum);
    }
    if (!alike) return least;
    std::int64_t sum = 0;
    for (const std::int64_t ns : shortest) sum += ns;
    return sum;
}

void split_calls(const std::vector<WorkOfStep>& steps, std::vector<RowOfWork>& rows)
{
    const std::int64_t shortest = shortest_calls(steps);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        std::int64_t sum = 0;
        for (const CallTime& call : steps[r].calls) sum += call.ns;
        rows[r].part(Part::transfer) += as_ms(shortest);
        rows[r].part(Part::waiting) += as_ms(sum - shortest);
    }
}

// A rank's exchanges in order of their starts, matched step by step with those of other ranks.
struct Matching {
    const base::LongColumn<TimeSpan>& exchanges;
    base::LongColumn<std::int64_t>
        shortest_ns{};      // shortest time of any rank in the matching exchange, for exchanges up to here
    std::size_t first = 0;  // first exchange that may overlap a later visit of wait_exchange

    // Goes to the next exchange that began in the step. Exchanges before it are in no step.
    bool begins_in(const WorkOfStep& step)
    {
        for (; shortest_ns.size() < exchanges.size(); shortest_ns.push_back(0)) {
            const std::int64_t begin_ns = exchanges[shortest_ns.size()].begin_ns;
            if (step.end_ns <= begin_ns) return false;
            if (step.begin_ns <= begin_ns) return true;
        }
        return false;
    }
    std::int64_t next_ns() const
    {
        const TimeSpan span = exchanges[shortest_ns.size()];
        return span.end_ns - span.begin_ns;
    }
};

// Matches the n-th exchange of the step with the n-th of every other rank.
void match(std::vector<Matching>& ranks, const std::vector<WorkOfStep>& steps)
{
    std::vector<std::size_t> with;
    do {
        with.clear();
        std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
        for (std::size_t r = 0; r < ranks.size(); ++r) {
            if (!ranks[r].begins_in(steps[r])) continue;
            with.push_back(r);
            shortest = std::min(shortest, ranks[r].next_ns());
        }
        for (const std::size_t r : with) ranks[r].shortest_ns.push_back(shortest);
    } while (!with.empty());
}

// Time of a rank's wait_exchange outside of all its exchanges, which is its own work. Where ranks agree on exchanges
// beforehand, only time after the last exchange of the step is: before it, the rank waits for the agreement.
double own_gaps_ms(const base::LongColumn<TimeSpan>& exchanges, std::size_t first, const WorkOfStep& step,
                   const TimeSpan& wait, bool negotiates)
{
    std::int64_t covered_ns = 0;
    std::int64_t last_end_ns = 0;
    if (first > 0) {
        const TimeSpan before = exchanges[first - 1];
        if (before.begin_ns >= step.begin_ns) last_end_ns = before.end_ns;
    }
    for (std::size_t e = first; e < exchanges.size() && exchanges[e].begin_ns < wait.end_ns; ++e) {
        const TimeSpan span = exchanges[e];
        last_end_ns = span.end_ns;
        covered_ns += std::min(wait.end_ns, last_end_ns) - std::max(wait.begin_ns, span.begin_ns);
    }
    if (!negotiates) return as_ms(wait.end_ns - wait.begin_ns - covered_ns);
    if (last_end_ns == 0) return 0.0;
    return as_ms(std::max<std::int64_t>(0, wait.end_ns - std::max(wait.begin_ns, last_end_ns)));
}

// Splits a rank's wait_exchange by the exchanges within it.
void split_waits(Matching& matching, const WorkOfStep& step, bool negotiates, std::size_t wait_column, RowOfWork& row)
{
    const base::LongColumn<TimeSpan>& exchanges = matching.exchanges;
    const base::LongColumn<std::int64_t>& shortest_ns = matching.shortest_ns;
    std::size_t& first = matching.first;
    double transfer = 0.0;
    double gaps = 0.0;
    for (const TimeSpan& wait : step.waits) {
        while (first < exchanges.size() && exchanges[first].end_ns <= wait.begin_ns) ++first;
        for (std::size_t e = first; e < exchanges.size() && exchanges[e].begin_ns < wait.end_ns; ++e) {
            const TimeSpan span = exchanges[e];
            const std::int64_t ns = std::min(wait.end_ns, span.end_ns) - std::max(wait.begin_ns, span.begin_ns);
            transfer += as_ms(std::min(ns, shortest_ns[e]));
        }
        gaps += own_gaps_ms(exchanges, first, step, wait, negotiates);
    }
    const double spent = row.own_ms[wait_column];
    const double own = std::min(gaps, spent);
    row.own_ms[wait_column] = own;
    row.part(Part::own) += own - spent;
    row.part(Part::transfer) += transfer;
    row.part(Part::waiting) += spent - own - transfer;
}

bool any_calls(const RecordedWork& recorded)
{
    return std::any_of(recorded.ranks.begin(), recorded.ranks.end(), [](const WorkOfRank& rank) {
        return std::any_of(rank.rows.begin(), rank.rows.end(),
                           [&](std::size_t row) { return rank.work->has_calls(row); });
    });
}

template <class T>
void append_all(const std::vector<T>& values, base::LongColumn<T>& column)
{
    for (const T& value : values) column.push_back(value);
}

template <class T>
void read_part(const base::LongColumn<T>& column, std::size_t first, std::size_t count, std::vector<T>& values)
{
    values.clear();
    for (std::size_t i = first; i < first + count; ++i) values.push_back(column[i]);
}

}  // namespace

void WorkOfSteps::append(const WorkOfStep& step)
{
    rows_.push_back({step.number,
                     step.begin_ns,
                     step.end_ns,
                     step.signature,
                     {own_ns_.size(), step.own_ns.size()},
                     {calls_.size(), step.calls.size()},
                     {waits_.size(), step.waits.size()}});
    append_all(step.own_ns, own_ns_);
    append_all(step.calls, calls_);
    append_all(step.waits, waits_);
}

void WorkOfSteps::read(std::size_t row, WorkOfStep& step) const
{
    const Row found = rows_[row];
    step.number = found.number;
    step.begin_ns = found.begin_ns;
    step.end_ns = found.end_ns;
    step.signature = found.signature;
    read_part(own_ns_, found.own.first, found.own.count, step.own_ns);
    read_part(calls_, found.calls.first, found.calls.count, step.calls);
    read_part(waits_, found.waits.first, found.waits.count, step.waits);
}

Work work_of(const RecordedWork& recorded)
{
    Work work;
    std::vector<std::size_t> columns;  // columns of own work
    std::size_t wait_column = SIZE_MAX;
    for (std::size_t c = 0; c < recorded.columns.size(); ++c) {
        if (recorded.part_of[c] == Part::rest) continue;
        if (c == recorded.wait_column) wait_column = columns.size();
        columns.push_back(c);
        work.regions.push_back(recorded.columns[c]);
    }
    const bool exchanges = std::any_of(recorded.ranks.begin(), recorded.ranks.end(),
                                       [](const WorkOfRank& rank) { return !rank.exchanges.empty(); });
    const bool calls = any_calls(recorded);
    const std::size_t ranks = recorded.ranks.size();
    std::vector<Matching> matching;
    for (const WorkOfRank& rank : recorded.ranks) matching.push_back({rank.exchanges});
    std::vector<WorkOfStep> steps(ranks);
    std::vector<RowOfWork> rows(ranks);
    work.ranks.resize(ranks);
    for (std::size_t i = 0; i < recorded.ranks.front().rows.size(); ++i) {
        for (std::size_t r = 0; r < ranks; ++r) {
            recorded.ranks[r].work->read(recorded.ranks[r].rows[i], steps[r]);
            fill_whole(rows[r], recorded, steps[r], columns, !exchanges && !calls);
        }
        if (calls) split_calls(steps, rows);
        if (exchanges && wait_column != SIZE_MAX) {
            match(matching, steps);
            for (std::size_t r = 0; r < ranks; ++r)
                split_waits(matching[r], steps[r], recorded.negotiates, wait_column, rows[r]);
        }
        for (std::size_t r = 0; r < ranks; ++r) {
            work.ranks[r].parts_ms.append_row(rows[r].parts_ms);
            work.ranks[r].own_ms.append_row(rows[r].own_ms);
        }
    }
    return work;
}

}  // namespace analysis
