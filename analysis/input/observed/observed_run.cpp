// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/observed/observed_run.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace analysis {

namespace {

std::string short_name(const std::string& host)
{
    return host.substr(0, host.find('.'));
}

bool is_on_host_of(const Episode& episode, const Training& training)
{
    return episode.host.empty() ||
           std::any_of(training.host.begin(), training.host.end(), [&](const std::string& host) {
               return host.empty() || short_name(host) == short_name(episode.host);
           });
}

// Offset from the log's times to the clock of the rank's node.
std::int64_t shift_ns(const NoiseLog& log, const Training& training, std::size_t rank,
                      std::optional<std::int64_t> clock_offset_ns)
{
    const std::optional<std::int64_t> realtime = training.realtime_minus_clock_ns[rank];
    if (clock_offset_ns) return *clock_offset_ns;
    if (log.realtime) {
        if (!realtime)
            base::fail(log.file.string(), " is in real time, but ", training.file.string(),
                       " lacks the offset of its clock: give --clock-offset");
        return -*realtime;
    }
    if (log.clock.empty() || log.clock == training.clock[rank]) return 0;
    if (!log.realtime_minus_clock_ns || !realtime)
        base::fail(log.file.string(), " and rank ", training.steps.ranks[rank].rank, " of ", training.file.string(),
                   " have two clocks: give their difference as --clock-offset");
    return *log.realtime_minus_clock_ns - *realtime;
}

// Slots on a rank's clock that cover the training's whole time.
std::vector<Slot> slots_of(const std::vector<Episode>& episodes, std::int64_t begin_ns, std::int64_t end_ns)
{
    std::map<std::int64_t, std::vector<std::pair<const Episode*, int>>> changes{{begin_ns, {}}, {end_ns, {}}};
    for (const Episode& episode : episodes) {
        const std::int64_t from = std::max(begin_ns, episode.begin_ns);
        const std::int64_t until = std::min(end_ns, episode.end_ns);
        if (from >= until) continue;
        changes[from].emplace_back(&episode, 1);
        changes[until].emplace_back(&episode, -1);
    }
    std::map<std::pair<std::string, std::string>, int> on;  // number of episodes that are on, by what and level
    std::vector<Slot> slots;
    for (auto change = changes.begin(); change != changes.end(); ++change) {
        for (const auto& [episode, by] : change->second) on[{episode->what, episode->level}] += by;
        const auto next = std::next(change);
        if (next == changes.end()) break;
        Slot slot{.block = 0, .begin_ns = change->first, .end_ns = next->first, .on = {}, .position = 0};
        for (const auto& [which, count] : on)
            if (count > 0) slot.on.push_back({which.first, which.second, "", base::Role::treatment});
        if (!slots.empty() && slots.back().on == slot.on)
            slots.back().end_ns = slot.end_ns;
        else
            slots.push_back(std::move(slot));
    }
    for (std::size_t s = 0; s < slots.size(); ++s) slots[s].position = static_cast<std::int64_t>(s);
    return slots;
}

std::vector<Episode> on_clock_of(const std::vector<NoiseLog>& logs, const Training& training, std::size_t rank,
                                 std::optional<std::int64_t> clock_offset_ns)
{
    std::vector<Episode> all;
    for (const NoiseLog& log : logs) {
        const std::int64_t shift = shift_ns(log, training, rank, clock_offset_ns);
        for (Episode episode : log.episodes) {
            if (!is_on_host_of(episode, training)) continue;
            episode.begin_ns += shift;
            episode.end_ns += shift;
            all.push_back(std::move(episode));
        }
    }
    return all;
}

std::string list_of(const std::set<std::string>& hosts)
{
    return base::shortened(base::join_words(std::vector<std::string>(hosts.begin(), hosts.end()), ", "), 60);
}

std::string hosts_of(const std::vector<NoiseLog>& logs)
{
    std::set<std::string> hosts;
    for (const NoiseLog& log : logs)
        for (const Episode& episode : log.episodes) hosts.insert(episode.host);
    return list_of(hosts);
}

// Why nothing can be compared; else empty.
std::string nothing_to_compare(const std::vector<NoiseLog>& logs, const Training& training,
                               const std::vector<Episode>& episodes, const std::vector<Slot>& slots)
{
    if (std::all_of(logs.begin(), logs.end(), [](const NoiseLog& log) { return log.episodes.empty(); }))
        return "the log has no episodes";
    if (episodes.empty())
        return base::join("no noise ran on the training's hosts: it ran on ", hosts_of(logs), ", the training on ",
                          list_of({training.host.begin(), training.host.end()}));
    const auto quiet = [](const Slot& slot) { return slot.on.empty(); };
    if (std::all_of(slots.begin(), slots.end(), quiet)) return "no noise ran while the training did";
    if (std::none_of(slots.begin(), slots.end(), quiet))
        return "noise ran during all of the training: there is no quiet baseline";
    std::size_t begun = 0;
    for (std::size_t s = 0; s < slots.size(); ++s)
        if (!quiet(slots[s]) && (s == 0 || quiet(slots[s - 1]))) ++begun;
    if (begun < 2) return "noise ran in only one episode: its effect cannot be separated from other changes";
    return "";
}

}  // namespace

ObservedRun observed_run(const Training& training, const std::vector<NoiseLog>& logs,
                         std::optional<std::int64_t> clock_offset_ns)
{
    ObservedRun observed;
    DesignedRun& run = observed.run;
    std::size_t count = 0;
    for (std::size_t r = 0; r < training.steps.ranks.size(); ++r) {
        const RankSteps& rank = training.steps.ranks[r];
        const std::vector<Episode> episodes = on_clock_of(logs, training, r, clock_offset_ns);
        const RankSteps& first = training.steps.ranks.front();
        // All ranks use the time span of the first rank, so that they have the same slots.
        const std::int64_t apart = r == 0 ? 0
                                          : shift_ns(logs.front(), training, r, clock_offset_ns) -
                                                shift_ns(logs.front(), training, 0, clock_offset_ns);
        std::vector<Slot> slots = slots_of(episodes, first.begin_ns.front() + apart, first.end_ns.back() + apart);
        if (r == 0) {
            observed.no_answer = nothing_to_compare(logs, training, episodes, slots);
            if (!observed.no_answer.empty()) return observed;
            count = slots.size();
        }
        if (slots.size() != count)
            base::fail("ranks of ", training.file.string(), " had other noise than rank ", first.rank,
                       ": their clocks cannot be aligned");
        slots.front().begin_ns = std::min(slots.front().begin_ns, rank.begin_ns.front());
        slots.back().end_ns = std::max(slots.back().end_ns, rank.end_ns.back());
        run.slots.push_back(std::move(slots));
        run.stopped.emplace_back();
    }
    run.steps = training.steps;
    run.work = training.work;
    run.extra_ms = training.extra_ms;
    run.extra_names = training.extra_names;
    run.plan = experiment(Design::sequence, run.slots.front());
    if (std::all_of(training.host.begin(), training.host.end(), [](const std::string& host) { return host.empty(); }))
        observed.notes.emplace_back("the training's file does not name its hosts: all noise is assumed to run on them");
    if (clock_offset_ns)
        observed.notes.push_back(base::join("clocks were aligned by --clock-offset ", *clock_offset_ns, " ns"));
    if (!training.steps_are.empty()) observed.notes.push_back(training.steps_are);
    return observed;
}

}  // namespace analysis
