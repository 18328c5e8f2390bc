#include "analysis/input/step_work/recorded_work.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace analysis {

namespace {

constexpr std::size_t no_step = SIZE_MAX;

double as_ms(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e6;
}

// Own work as it was spent; where nothing tells exchanges from own work, all of wait_exchange is waiting.
RankWork whole(const RecordedWork& recorded, std::size_t rank, const std::vector<std::size_t>& columns, bool waits_only)
{
    RankWork work;
    const auto rows = static_cast<Eigen::Index>(recorded.ranks[rank].size());
    work.parts_ms.resize(rows, static_cast<Eigen::Index>(part_count));
    work.own_ms.resize(rows, static_cast<Eigen::Index>(columns.size()));
    for (Eigen::Index i = 0; i < rows; ++i) {
        const WorkOfStep& step = *recorded.ranks[rank][static_cast<std::size_t>(i)];
        double rest = as_ms(step.end_ns - step.begin_ns);
        for (std::size_t k = 0; k < columns.size(); ++k) {
            if (columns[k] >= step.own_ns.size()) continue;
            const double ms = as_ms(step.own_ns[columns[k]]);
            const bool waits = waits_only && columns[k] == recorded.wait_column;
            work.parts_ms(i, column(waits ? Part::waiting : recorded.part_of[columns[k]])) += ms;
            if (!waits) work.own_ms(i, static_cast<Eigen::Index>(k)) = ms;
            rest -= ms;
        }
        for (const CallTime& call : step.calls) rest -= as_ms(call.ns);
        work.parts_ms(i, column(Part::rest)) = rest;
    }
    return work;
}

// The shortest time of any rank in the calls of MPI of a step, which are matched by their place in it; where ranks made
// other calls, of all of them together.
std::int64_t shortest_calls(const RecordedWork& recorded, std::size_t step)
{
    const std::vector<CallTime>& first = recorded.ranks.front()[step]->calls;
    std::vector<std::int64_t> shortest;
    for (const CallTime& call : first) shortest.push_back(call.ns);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    bool alike = true;
    for (const auto& rank : recorded.ranks) {
        const std::vector<CallTime>& calls = rank[step]->calls;
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

void split_calls(const RecordedWork& recorded, std::vector<RankWork>& work)
{
    for (std::size_t i = 0; i < recorded.ranks.front().size(); ++i) {
        const std::int64_t shortest = shortest_calls(recorded, i);
        const auto row = static_cast<Eigen::Index>(i);
        for (std::size_t r = 0; r < work.size(); ++r) {
            std::int64_t sum = 0;
            for (const CallTime& call : recorded.ranks[r][i]->calls) sum += call.ns;
            work[r].parts_ms(row, column(Part::transfer)) += as_ms(shortest);
            work[r].parts_ms(row, column(Part::waiting)) += as_ms(sum - shortest);
        }
    }
}

// An exchange of a rank's other thread, and the shortest time of any rank in the one that it is matched with.
struct MatchedExchange {
    TimeSpan span;
    std::size_t step = no_step;  // in which it began
    std::size_t which = 0;       // of those that began in this step
    std::int64_t shortest_ns = 0;
};

std::vector<std::vector<MatchedExchange>> matched(const RecordedWork& recorded)
{
    std::vector<std::vector<MatchedExchange>> all;
    std::vector<std::vector<std::int64_t>> shortest(recorded.ranks.front().size());  // [step][which]
    for (std::size_t r = 0; r < recorded.ranks.size(); ++r) {
        std::vector<MatchedExchange>& own = all.emplace_back();
        for (const TimeSpan& span : recorded.exchanges[r]) own.push_back({.span = span});
        std::sort(own.begin(), own.end(),
                  [](const MatchedExchange& a, const MatchedExchange& b) { return a.span.begin_ns < b.span.begin_ns; });
        const auto& steps = recorded.ranks[r];
        std::size_t step = 0;
        std::size_t next = 0;
        for (MatchedExchange& exchange : own) {
            for (; step < steps.size() && steps[step]->end_ns <= exchange.span.begin_ns; ++step) next = 0;
            if (step == steps.size() || steps[step]->begin_ns > exchange.span.begin_ns) continue;
            exchange.step = step;
            exchange.which = next++;
            const std::int64_t ns = exchange.span.end_ns - exchange.span.begin_ns;
            if (shortest[step].size() <= exchange.which) shortest[step].push_back(ns);
            shortest[step][exchange.which] = std::min(shortest[step][exchange.which], ns);
        }
    }
    for (auto& own : all)
        for (MatchedExchange& exchange : own)
            if (exchange.step != no_step) exchange.shortest_ns = shortest[exchange.step][exchange.which];
    return all;
}

// What of a rank's wait_exchange none of its exchanges covers, and is its own work. Where ranks agree on exchanges
// before they begin, it is what comes after the last one of the step: before that it waits until all agree.
double own_gaps_ms(const std::vector<MatchedExchange>& exchanges, std::size_t first, const WorkOfStep& step,
                   const TimeSpan& wait, bool negotiates)
{
    std::int64_t covered_ns = 0;
    std::int64_t last_end_ns = 0;
    if (first > 0 && exchanges[first - 1].span.begin_ns >= step.begin_ns)
        last_end_ns = exchanges[first - 1].span.end_ns;
    for (std::size_t e = first; e < exchanges.size() && exchanges[e].span.begin_ns < wait.end_ns; ++e) {
        last_end_ns = exchanges[e].span.end_ns;
        covered_ns += std::min(wait.end_ns, last_end_ns) - std::max(wait.begin_ns, exchanges[e].span.begin_ns);
    }
    if (!negotiates) return as_ms(wait.end_ns - wait.begin_ns - covered_ns);
    if (last_end_ns == 0) return 0.0;
    return as_ms(std::max<std::int64_t>(0, wait.end_ns - std::max(wait.begin_ns, last_end_ns)));
}

// A rank's wait_exchange by what its exchanges cover of it.
void split_waits(const RecordedWork& recorded, const std::vector<MatchedExchange>& exchanges, std::size_t rank,
                 Eigen::Index wait_column, RankWork& work)
{
    std::size_t first = 0;
    for (std::size_t i = 0; i < recorded.ranks[rank].size(); ++i) {
        const auto row = static_cast<Eigen::Index>(i);
        double transfer = 0.0;
        double gaps = 0.0;
        for (const TimeSpan& wait : recorded.ranks[rank][i]->waits) {
            while (first < exchanges.size() && exchanges[first].span.end_ns <= wait.begin_ns) ++first;
            for (std::size_t e = first; e < exchanges.size() && exchanges[e].span.begin_ns < wait.end_ns; ++e) {
                const TimeSpan& span = exchanges[e].span;
                const std::int64_t ns = std::min(wait.end_ns, span.end_ns) - std::max(wait.begin_ns, span.begin_ns);
                transfer += as_ms(std::min(ns, exchanges[e].shortest_ns));
            }
            gaps += own_gaps_ms(exchanges, first, *recorded.ranks[rank][i], wait, recorded.negotiates);
        }
        const double spent = work.own_ms(row, wait_column);
        const double own = std::min(gaps, spent);
        work.own_ms(row, wait_column) = own;
        work.parts_ms(row, column(Part::own)) += own - spent;
        work.parts_ms(row, column(Part::transfer)) += transfer;
        work.parts_ms(row, column(Part::waiting)) += spent - own - transfer;
    }
}

}  // namespace

Work work_of(const RecordedWork& recorded)
{
    Work work;
    std::vector<std::size_t> columns;  // of own work
    Eigen::Index wait_column = -1;
    for (std::size_t c = 0; c < recorded.columns.size(); ++c) {
        if (recorded.part_of[c] == Part::rest) continue;
        if (c == recorded.wait_column) wait_column = static_cast<Eigen::Index>(columns.size());
        columns.push_back(c);
        work.regions.push_back(recorded.columns[c]);
    }
    const bool exchanges = std::any_of(recorded.exchanges.begin(), recorded.exchanges.end(),
                                       [](const auto& of_rank) { return !of_rank.empty(); });
    const bool calls = std::any_of(recorded.ranks.begin(), recorded.ranks.end(), [](const auto& rank) {
        return std::any_of(rank.begin(), rank.end(), [](const WorkOfStep* step) { return !step->calls.empty(); });
    });
    for (std::size_t r = 0; r < recorded.ranks.size(); ++r)
        work.ranks.push_back(whole(recorded, r, columns, !exchanges && !calls));
    if (calls) split_calls(recorded, work.ranks);
    if (!exchanges || wait_column < 0) return work;
    const std::vector<std::vector<MatchedExchange>> all = matched(recorded);
    for (std::size_t r = 0; r < recorded.ranks.size(); ++r)
        split_waits(recorded, all[r], r, wait_column, work.ranks[r]);
    return work;
}

}  // namespace analysis
