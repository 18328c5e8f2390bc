// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/limits.hpp"

#include "analysis/results/node_placement.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/record.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/job_cores.hpp"
#include "base/error.hpp"
#include "base/system/cpus.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace analysis {

namespace {

using base::join;
using Json = nlohmann::ordered_json;

constexpr std::size_t most_sets = 256;  // number of sets that are compared with each other

std::string listed_ranks(const std::vector<std::int64_t>& ranks)
{
    if (ranks.size() > 4) return join(ranks.size(), " ranks");
    std::vector<std::string> words;
    for (const std::int64_t rank : ranks) words.push_back(std::to_string(rank));
    return (ranks.size() == 1 ? "rank " : "ranks ") + base::join_words(words, ", ");
}

void add_shared_cpus(std::vector<std::string>& limits, const std::string& host, const std::vector<BoundRank>& ranks)
{
    std::map<base::CpuSet, std::vector<std::int64_t>> by_set;
    for (const BoundRank& rank : ranks) by_set[rank.cpus].push_back(rank.rank);
    if (by_set.size() > most_sets) return;
    bool may_move = false;
    for (const auto& [cpus, bound] : by_set) {
        std::vector<std::int64_t> within;
        for (const auto& [other, others] : by_set) {
            const base::CpuSet both = base::common_cpus(other, cpus);
            if (both == other) within.insert(within.end(), others.begin(), others.end());
            may_move = may_move || (!both.empty() && (other != cpus || others.size() > 1));
        }
        if (within.size() <= cpus.size()) continue;
        std::sort(within.begin(), within.end());
        limits.push_back(join(listed_ranks(within), " share ",
                              cpus.size() == 1 ? "one CPU" : "CPUs " + base::format_cpus(cpus), " of ", host,
                              ": they take turns, so steps and slowdowns differ from those on separate cores"));
        return;
    }
    if (may_move)
        limits.push_back(
            join("ranks on ", host, " are not bound to separate CPUs: the kernel may move them during the run"));
}

void add_virtual_machines(std::vector<std::string>& limits, const Report& report)
{
    std::set<std::string> reported;
    for (const Record& record : report.records) {
        const std::string maker = word(record.json, "virtual_machine");
        const std::string host = word(record.json, "host");
        if (maker.empty() || !reported.insert(host).second) continue;
        limits.push_back(join(host, " is a virtual machine (", maker, "): its CPUs may be threads of one core ",
                              "or shared with other machines, which is invisible to the guest"));
    }
}

std::size_t cores_of(const Json& noise, const base::CpuSet& cpus)
{
    std::set<double> cores;
    for (const Json& seat : list_in(noise, "placement"))
        if (const auto core = number_in(seat, "core")) cores.insert(*core);
    return cores.empty() ? cpus.size() : cores.size();
}

// True if all noise is job.cores, which runs only on cores that it takes from the job.
bool takes_cores(const Json& noise)
{
    bool any = false;
    for (const Json& level : list_in(noise, "factor_levels")) {
        const std::string stressor = word(level, "stressor");
        if (stressor == "placebo" || stressor.starts_with("control.")) continue;
        if (stressor != base::job_cores::stressor) return false;
        any = true;
    }
    return any;
}

void add_noise_place(std::vector<std::string>& limits, const Json& noise, const base::CpuSet& training)
{
    const base::CpuSet cpus = cpus_in(noise, "cpus");
    if (cpus.empty() || takes_cores(noise)) return;
    const std::string host = word(noise, "host");
    const base::CpuSet both = base::common_cpus(cpus, training);
    if (!both.empty())
        limits.push_back(join("noise ran on CPUs of the training itself (", base::format_cpus(both), " of ", host,
                              "): this measures core sharing, not noise on idle cores"));
    const auto online = number_in(noise, "cpus_online");
    const std::size_t cores = cores_of(noise, cpus);
    const double left = online ? *online - static_cast<double>(training.size()) : 0.0;
    if (cores == 1 || static_cast<double>(cpus.size()) < left)
        limits.push_back(join("noise came from ", counted(cores, "core"), " of ", host, " (CPU",
                              cpus.size() == 1 ? " " : "s ", base::format_cpus(cpus),
                              online ? join("; it has ", *online) : "", "): jobs on more cores would make more noise"));
}

// Adds limits for work that the noise did not do, and for CPU time that other programs took from it.
void add_what_noise_lacked(std::vector<std::string>& limits, const Json& noise)
{
    constexpr double much = 0.1;
    const std::string host = word(noise, "host");
    const bool shared = flag_in(noise, "shared_on_purpose");
    double most_taken = much;
    std::string taken_from;
    for (const Json& level : list_in(noise, "factor_levels")) {
        const double on_s = number_in(level, "on_s").value_or(0.0) * number_in(level, "cpus").value_or(0.0);
        if (on_s <= 0.0) continue;
        const std::string name = base::factor_name(word(level, "factor"), word(level, "level"));
        const double reached = number_in(level, "reached").value_or(1.0);
        if (!flag_in(level, "rate_reached", true))
            limits.push_back(join(name, " did ", std::lround(100.0 * reached), " % of its rate on ", host,
                                  ": results are for that, not for the requested rate"));
        const double taken = number_in(level, "waited_s").value_or(0.0) / on_s;
        if (shared || taken <= most_taken) continue;
        most_taken = taken;
        taken_from = name;
    }
    if (!taken_from.empty())
        limits.push_back(
            join("other processes used the noise's CPUs of ", host, " for ", std::lround(100.0 * most_taken),
                 " % of the time of ", taken_from,
                 ": it did less than it could, and may have pushed them to the job's CPUs, so its effect may be too "
                 "small or too large"));
}

void add_counted_outliers(std::vector<std::string>& limits, const Report& report)
{
    const Analysis& analysis = report.analysis;
    if (!analysis.long_steps.rare) return;  // frequent ones are no accidents, and the checks report them
    const std::vector<AccidentRate>& rates = analysis.accident_rates;
    for (const AccidentRate& rate : rates)
        if (rate.charged)
            limits.push_back(
                join("outliers take ", fixed(rate.percent_of_time, 2), " % of the time under ",
                     base::factor_name(rate.factor, rate.level), " and ", fixed(rates.front().percent_of_time, 2),
                     " % in quiet slots: ", rate.excess_percent < rates.front().excess_percent ? "less" : "more",
                     " than chance explains, so they count in its slowdown"));
}

void add_uncertain_strata(std::vector<std::string>& limits, const Report& report)
{
    for (const StepStratum& stratum : report.analysis.long_steps.strata)
        if (!stratum.counted.empty())
            limits.push_back(
                join("long steps (", stratum.name,
                     ") do not recur at a fixed number of steps: intervals assume equal frequency under noise and in "
                     "quiet unless the difference is significant; safe noises are also below the budget without this "
                     "assumption"));
}

double slot_s(const Report& report)
{
    const Slot& slot = report.run.slots.front().front();
    return static_cast<double>(slot.end_ns - slot.begin_ns) / 1e9;
}

void add_carry_over(std::vector<std::string>& limits, const Report& report)
{
    for (const CarryOver& left : report.analysis.carry_over)
        if (left.counted && left.p_holm <= significant_carry_over)
            limits.push_back(join(base::factor_name(left.factor, left.level), " outlasts its slot: steps in the ",
                                  left.slots == 1 ? "slot" : join(left.slots, " slots"), " after it are longer by ",
                                  signed_percent(left.percent.value),
                                  ". This counts in its slowdown, since a neighbour runs all the time; longer slots (",
                                  fixed(2.0 * slot_s(report), 2), " s: crosstalk run --slot ",
                                  fixed(2.0 * slot_s(report), 2), "s) would contain more of it"));
}

double worst_lateness_s(const Json& noise)
{
    return number_in(object_in(noise, "lateness_ns"), "worst").value_or(0.0) / 1e9;
}

std::string lateness_text(const Report& report, const Json& noise)
{
    return join("noise on ", word(noise, "host"), " began up to ", fixed(worst_lateness_s(noise), 2),
                " s late (a slot lasts ", fixed(slot_s(report), 2), " s)");
}

void add_noise_elsewhere(std::vector<std::string>& reasons, const Report& report)
{
    for (const Record* record : noise_records(report)) {
        const std::string host = word(record->json, "host");
        for (const Json& moved : list_in(record->json, "moved"))
            reasons.push_back(join("the noise of CPU ", std::llround(number_in(moved, "cpu").value_or(-1.0)), " on ",
                                   host, " was moved to CPU ", word(moved, "to"), " (by taskset, or a cpuset)"));
        for (const Json& stressor : list_in(record->json, "stressors"))
            if (const std::string what = word(stressor, "not_kept"); !what.empty())
                reasons.push_back(join(word(stressor, "name"), " on ", host, ": ", what));
    }
}

void add_noise_that_stood_still(std::vector<std::string>& reasons, const Report& report)
{
    constexpr double too_much = 0.1;
    const std::vector<Slot>& slots = report.run.slots.front();
    const double noise_s = static_cast<double>(slots.back().end_ns - slots.front().begin_ns) / 1e9;
    for (const Record* record : noise_records(report))
        if (worst_lateness_s(record->json) >= too_much * noise_s)
            reasons.push_back(lateness_text(report, record->json) +
                              ": it was stopped for more than a tenth of its time");
}

void add_late_slots(std::vector<std::string>& reasons, const Report& report)
{
    constexpr double late = 0.1;  // share of a slot
    for (const Record* record : noise_records(report)) {
        const double p99_s = number_in(object_in(record->json, "lateness_ns"), "p99").value_or(0.0) / 1e9;
        if (p99_s > late * slot_s(report))
            reasons.push_back(join("one slot in a hundred on ", word(record->json, "host"), " began more than ",
                                   fixed(1000.0 * p99_s, 0), " ms late, a tenth of its length or more"));
    }
}

void add_unknown_end(std::vector<std::string>& reasons, const Report& report)
{
    constexpr double longest_share = 0.05;  // share of the noise's length
    constexpr double longest_steps = 3.0;   // number of the longest steps
    constexpr double longest_ns = 3e9;      // ns; programs take a moment to end
    const Record* training = training_record(report);
    // A hanging training is ended by a signal, too; the record of a user's own job does not say how it ended.
    const std::string ended_by = training == nullptr ? "" : word(object_in(training->json, "result"), "ended_by");
    if (!ended_by.empty() && ended_by != "signal") return;
    const RankSteps& rank = report.run.steps.ranks.front();
    const std::vector<Slot>& slots = report.run.slots.front();
    std::int64_t longest_step_ns = 0;
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i)
        longest_step_ns = std::max(longest_step_ns, rank.end_ns[i] - rank.begin_ns[i]);
    const auto noise_ns = static_cast<double>(slots.back().end_ns - slots.front().begin_ns);
    const auto silent_ns = static_cast<double>(slots.back().end_ns - rank.end_ns.back());
    if (silent_ns <=
        std::max({longest_share * noise_ns, longest_steps * static_cast<double>(longest_step_ns), longest_ns}))
        return;
    reasons.push_back(join("noise continued for ", fixed(silent_ns / 1e9, 1),
                           " s after the last step without a record that the training ended: it may have hung"));
}

std::map<std::pair<std::string, std::string>, std::string> what_noise_lacked(const Report& report)
{
    constexpr double enough = 0.9;
    std::map<std::pair<std::string, std::string>, std::string> lacked;
    for (const Record* record : noise_records(report)) {
        const std::string host = word(record->json, "host");
        for (const Json& level : list_in(record->json, "factor_levels")) {
            const std::pair key{word(level, "factor"), word(level, "level")};
            const double on_s = number_in(level, "on_s").value_or(0.0) * number_in(level, "cpus").value_or(0.0);
            const double reached = number_in(level, "reached").value_or(1.0);
            const double taken = on_s > 0.0 ? number_in(level, "waited_s").value_or(0.0) / on_s : 0.0;
            if (flag_in(level, "job_ended"))
                lacked[key] = join("its job ended before the run did on ", host);
            else if (!flag_in(level, "rate_reached", true) && reached < enough)
                lacked[key] = join("it did only ", std::lround(100.0 * reached), " % of its rate on ", host);
            else if (!flag_in(record->json, "shared_on_purpose") && taken > 1.0 - enough)
                lacked[key] = join("other processes used the noise's CPU on ", host, " for ",
                                   std::lround(100.0 * taken), " % of its time");
        }
    }
    return lacked;
}

}  // namespace

RecordedFaults recorded_faults(const Report& report)
{
    RecordedFaults faults;
    add_noise_elsewhere(faults.promises_broken, report);
    add_noise_that_stood_still(faults.promises_broken, report);
    add_late_slots(faults.insensitive, report);
    add_unknown_end(faults.insensitive, report);
    faults.lacked = what_noise_lacked(report);
    return faults;
}

std::vector<std::string> limits(const Report& report)
{
    std::vector<std::string> limits;
    const auto hosts = bound_ranks(report);
    for (const auto& [host, ranks] : hosts) add_shared_cpus(limits, host, ranks);
    add_virtual_machines(limits, report);
    for (const Record* record : noise_records(report)) {
        const Json& noise = record->json;
        base::CpuSet training;
        if (const auto host = hosts.find(word(noise, "host")); host != hosts.end())
            for (const BoundRank& rank : host->second) training.insert(rank.cpus.begin(), rank.cpus.end());
        add_noise_place(limits, noise, training);
        add_what_noise_lacked(limits, noise);
        if (!list_in(noise, "overlaps").empty())
            limits.push_back(join("other processes ran on the noise's CPUs of ", word(noise, "host"),
                                  " meanwhile (noise.json, overlaps)"));
        if (worst_lateness_s(noise) > slot_s(report) / 2.0)
            limits.push_back(lateness_text(report, noise) + ": it was stopped, so some slots were not as assigned");
    }
    if (const auto guard = report.analysis.counts.find(LeftOut::guard); guard != report.analysis.counts.end())
        limits.push_back(join(counted(guard->second, "step"),
                              " after the start of a slot are excluded (--guard), with the noise's effect there"));
    add_counted_outliers(limits, report);
    add_uncertain_strata(limits, report);
    add_carry_over(limits, report);
    if (report.run.steps.incomplete > 1)  // the last step of a training may be incomplete
        limits.push_back(join(report.run.steps.incomplete, " steps are excluded: some ranks lack them"));
    if (report.analysis.blocks < least_blocks_to_forecast)
        limits.push_back(join("only ", counted(static_cast<std::size_t>(report.analysis.blocks), "block"),
                              ": intervals are wide, because few repetitions give a poor estimate of their spread"));
    if (!report.run.plan.randomised())
        limits.push_back(
            "the order of the noise was not random: disturbances with the same period, or drift within a block, "
            "would appear as an effect");
    return limits;
}

}  // namespace analysis
