// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/calibrate.hpp"

#include "base/cli/progress.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/gpu/cuda_driver.hpp"
#include "base/random.hpp"
#include "noisegen/execution/measured_run.hpp"
#include "noisegen/measure/window_sums.hpp"
#include "noisegen/measure/worst_shape_search.hpp"
#include "noisegen/schedule/intensity.hpp"
#include "noisegen/schedule/parser.hpp"
#include "noisegen/stressors/registry.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <optional>

namespace noisegen {

namespace {

constexpr base::Nanoseconds trial{50'000'000};
constexpr base::Nanoseconds warm_up{100'000'000};  // before rounds, which then begin at a window's border
// One core rarely saturates the path to memory: two cores reach a little more than one even if they share it.
constexpr double ratio_apart = 1.8;
constexpr double ratio_shared = 1.25;

// Rates per second, summed over all CPUs.
struct Speed {
    double bytes = 0.0;
    double operations = 0.0;
    Windows windows;
    double waited = 0.0;  // share of the time in which others ran on its CPUs while it was runnable
};

// Above this share of waiting, a round shows other processes rather than the machine.
constexpr double disturbed_share = 0.05;

// A stressor on the first `cores` cores.
struct Item {
    Configured stressor;
    std::size_t cores = 1;
    base::CpuSet cpus{};
    std::vector<double> bytes{};  // one value per round
    std::vector<double> operations{};
    std::vector<double> waited{};
    Windows windows{};  // windows of all rounds
    bool left_out = false;

    std::string name() const { return stressor_text(stressor.card->name, own_options(stressor.settings)); }
    std::string text() const { return base::join(name(), " on ", cpus.size(), cpus.size() == 1 ? " CPU" : " CPUs"); }
    bool is_of(const Configured& other) const
    {
        return stressor.card == other.card && own_options(stressor.settings) == own_options(other.settings);
    }
};

// A schedule without a rate: a warm-up, then the round.
Schedule schedule_of(const Item& item, base::Nanoseconds round)
{
    Schedule schedule;
    schedule.text = item.name();
    schedule.stressors = {item.stressor};
    schedule.levels = {{.factor = item.stressor.card->name, .level = "", .stressor = 0}};
    schedule.order = Sequence{{{.treatment = {0}, .length = warm_up}, {.treatment = {0}, .length = round}}};
    return schedule;
}

// Returns none if the program was asked to stop.
std::optional<Speed> measure(const Item& item, base::Nanoseconds round, const Budgets& budgets)
{
    const Schedule schedule = schedule_of(item, round);
    Speed speed;
    WindowSums windows{item.cpus.size()};
    std::int64_t start = 0;
    const bool complete = run({.schedule = schedule,
                               .cpus = item.cpus,
                               .budgets = budgets,
                               .table = slot_table(schedule, 0, warm_up + round),
                               .on_slot =
                                   [&](std::size_t, const SlotDone& done) {
                                       if (done.slot->number == 0) return;
                                       const Sample& sample = done.sample;
                                       const double waited_s = static_cast<double>(sample.waited_ns) * 1e-9;
                                       speed.waited +=
                                           waited_s / sample.seconds() / static_cast<double>(item.cpus.size());
                                       speed.bytes += sample.bytes_per_s();
                                       speed.operations += sample.operations_per_s();
                                   },
                               .on_sample =
                                   [&](std::size_t, const SlotDone& done, const Sample& sample) {
                                       if (done.slot->number > 0) windows.add(start, sample);
                                   },
                               .on_start = [&](std::int64_t start_ns) { start = start_ns; }});
    speed.windows = windows.whole();
    return complete ? std::optional{speed} : std::nullopt;
}

bool can_be_held_to_a_rate(const StressorCard& card)
{
    return has_intensity(card) && (card.counts_bytes || card.counts_operations);
}

std::vector<Configured> configured_by_default()
{
    std::vector<Configured> all;
    for (const StressorCard* card : stressors().cards()) {
        if (card->cpus == StressorCard::Cpus::none || !can_be_held_to_a_rate(*card)) continue;
        const base::Settings settings = stressors().settings(*card, {});
        if (!card->needs(settings).gpu || base::cuda::devices() > 0) all.push_back({card, settings});
    }
    return all;
}

// Makes one stressor for each level of an option; levels that differ in intensity only count as one.
std::vector<Configured> configured_by(const std::vector<std::string>& words, base::Nanoseconds round)
{
    std::vector<Configured> all;
    for (const std::string& word : words)
        for (const Configured& stressor : rotation_of({word}, round).stressors) {
            if (!can_be_held_to_a_rate(*stressor.card))
                base::fail_usage(stressor.card->name, " has no rate, so there is no limit to measure");
            all.push_back(stressor);
        }
    return all;
}

std::vector<Item> items_of(const std::vector<Configured>& configured, const base::CpuSet& cpus)
{
    const std::vector<base::Core> cores = base::physical_cores(cpus);
    std::vector<std::size_t> counts;
    for (std::size_t count = 1; count < cores.size(); count *= 2) counts.push_back(count);
    counts.push_back(cores.size());
    std::vector<Item> items;
    for (const Configured& stressor : configured) {
        const bool known = std::ranges::any_of(items, [&](const Item& item) { return item.is_of(stressor); });
        if (known) continue;
        const bool needs_one = stressor.card->cpus == StressorCard::Cpus::one;
        for (const std::size_t count : needs_one ? std::vector<std::size_t>{1} : counts) {
            Item item{.stressor = stressor, .cores = count};
            for (std::size_t i = 0; i < count; ++i) item.cpus.insert(cores[i].cpus.begin(), cores[i].cpus.end());
            if (needs_one) item.cpus = {*item.cpus.begin()};
            items.push_back(std::move(item));
        }
    }
    return items;
}

// A machine that stalls for a moment lets no work be done; then the measurement is repeated.
std::optional<Speed> tried(const Item& item, const Budgets& budgets)
{
    constexpr int attempts = 3;
    for (int i = 0; i < attempts; ++i) {
        const std::optional<Speed> speed = measure(item, trial, budgets);
        if (!speed || speed->bytes > 0.0 || speed->operations > 0.0) return speed;
    }
    base::fail("it did no work");
}

// Runs each item once, briefly, so that the first round is as warm as the others. Items that cannot run are left out;
// if the user requested them, that is an error. Returns false if the program was asked to stop.
bool try_all(std::vector<Item>& items, bool asked_for, const Budgets& budgets)
{
    for (auto item = items.begin(); item != items.end();) try {
            if (!tried(*item, budgets)) return false;
            ++item;
        } catch (const std::exception& error) {
            if (asked_for) throw;
            base::warn(item->text() + " is left out: " + error.what());
            item = items.erase(item);
        }
    return true;
}

// Leaves out items that can no longer run, as try_all does: memory or disk may be taken by others meanwhile.
bool measure_rounds(std::vector<Item>& items, bool asked_for, const Calibration& calibration)
{
    base::Progress progress{"noisegen calibrate"};
    for (std::size_t round = 0; round < calibration.rounds; ++round) {
        std::vector<std::size_t> order(items.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        base::Random random = base::random_stream(calibration.seed, round);
        base::shuffle(random, std::span{order});
        for (std::size_t i = 0; i < order.size(); ++i) {
            Item& item = items[order[i]];
            if (item.left_out) continue;
            progress.show(
                static_cast<double>(round * order.size() + i) / static_cast<double>(calibration.rounds * order.size()),
                base::join("round ", round + 1, " of ", calibration.rounds, ", ", item.text()));
            try {
                const auto speed = measure(item, calibration.round, calibration.budgets);
                if (!speed) return false;
                item.bytes.push_back(speed->bytes);
                item.operations.push_back(speed->operations);
                item.waited.push_back(speed->waited);
                const Windows& windows = speed->windows;
                item.windows.bytes.insert(item.windows.bytes.end(), windows.bytes.begin(), windows.bytes.end());
                item.windows.operations.insert(item.windows.operations.end(), windows.operations.begin(),
                                               windows.operations.end());
            } catch (const std::exception& error) {
                if (asked_for) throw;
                base::warn(item.text() + " is left out: " + error.what());
                item.left_out = true;
            }
        }
    }
    std::erase_if(items, [](const Item& item) { return item.left_out; });
    return true;
}

const Item* one_core_of(const std::vector<Item>& items, const Item& other)
{
    const auto found =
        std::ranges::find_if(items, [&](const Item& item) { return item.cores == 1 && item.is_of(other.stressor); });
    return found == items.end() ? nullptr : &*found;
}

// Coupling of streams through memory, since these saturate the path to it. Uses the rounds in which both measurements
// had their CPUs to themselves; none if there are no such rounds.
std::optional<Coupling> coupling_of(const std::vector<Item>& items, const Item& two)
{
    const Item* one = one_core_of(items, two);
    if (two.cores != 2 || one == nullptr || two.stressor.card->name != "memory.stream") return {};
    std::vector<double> of_one;
    std::vector<double> of_two;
    for (std::size_t round = 0; round < two.bytes.size(); ++round) {
        if (std::max(one->waited[round], two.waited[round]) > disturbed_share) continue;
        of_one.push_back(one->bytes[round]);
        of_two.push_back(two.bytes[round]);
    }
    if (of_one.empty()) return {};
    return coupling(of_one, of_two);
}

// Reports on stderr how many rounds were disturbed.
void tell_waiting(const std::vector<Item>& items)
{
    std::size_t disturbed = 0;
    std::size_t all = 0;
    for (const Item& item : items)
        for (const double waited : item.waited) {
            ++all;
            if (waited > disturbed_share) ++disturbed;
        }
    if (disturbed > 0)
        base::warn("other processes ran on these CPUs in ", disturbed, " of ", all,
                   " measurements, which lowers the limits; calibrate on an idle machine");
}

nlohmann::ordered_json to_json(const Coupling& coupling)
{
    return {{"median_ratio", coupling.median_ratio},
            {"rounds_apart", coupling.apart},
            {"rounds_in_part", coupling.in_part},
            {"rounds_shared", coupling.shared}};
}

std::vector<StressorLimit> entries_of(const std::vector<Item>& items, const Calibration& calibration)
{
    const nlohmann::ordered_json record = base::run_record("noisegen calibrate");
    nlohmann::ordered_json machine;
    for (const char* name : {"kernel", "clock_identity", "version", "git_revision"}) machine[name] = record.at(name);
    std::vector<StressorLimit> entries;
    for (const Item& item : items) {
        entries.push_back({.stressor = item.stressor.card->name,
                           .options = own_options(item.stressor.settings),
                           .cpus = item.cpus.size(),
                           .cpus_used = base::format_cpus(item.cpus),
                           .bytes_per_s = limit_of(item.bytes),
                           .operations_per_s = limit_of(item.operations),
                           .rounds = item.bytes.size(),
                           .round = calibration.round,
                           .window = {.windows = item.windows.bytes.size(),
                                      .bytes_per_s = held_in_windows(item.windows.bytes),
                                      .operations_per_s = held_in_windows(item.windows.operations)},
                           .measured = record.at("started"),
                           .machine = machine});
        entries.back().machine["waited_for_cpu"] = limit_of(item.waited).median;
        if (const auto found = coupling_of(items, item)) entries.back().machine["two_cores_to_one"] = to_json(*found);
    }
    return entries;
}

void tell_couplings(std::ostream& out, const std::vector<Item>& items)
{
    for (const Item& item : items) {
        const auto found = coupling_of(items, item);
        if (!found) continue;
        const base::CpuSet& first = one_core_of(items, item)->cpus;
        base::CpuSet second = item.cpus;
        for (const int cpu : first) second.erase(cpu);
        out << item.name() << ": " << text(*found, first, second) << "\n";
    }
}

}  // namespace

Coupling coupling(const std::vector<double>& one, const std::vector<double>& two)
{
    Coupling found;
    std::vector<double> ratios;
    for (std::size_t round = 0; round < one.size(); ++round) {
        const double ratio = two[round] / one[round];
        ratios.push_back(ratio);
        ++(ratio >= ratio_apart ? found.apart : ratio <= ratio_shared ? found.shared : found.in_part);
    }
    found.median_ratio = limit_of(ratios).median;
    return found;
}

std::string text(const Coupling& coupling, const base::CpuSet& first, const base::CpuSet& second)
{
    const bool plain = first.size() == 1 && second.size() == 1;
    const std::string a = base::format_cpus(first);
    const std::string b = base::format_cpus(second);
    const std::string both = plain ? "CPUs " + a + " and " + b : "the cores of CPUs " + a + " and of CPUs " + b;
    const std::size_t rounds = coupling.apart + coupling.in_part + coupling.shared;
    const auto in = [rounds](std::size_t count) { return base::join(" (", count, " of ", rounds, " rounds)"); };
    std::string words =
        base::join("two cores reach ", std::round(coupling.median_ratio * 100.0) / 100.0, " times what one reaches: ");
    if (coupling.apart == rounds)
        return words + both + " do not share a memory path" + in(rounds) + "; memory noise on one hardly slows " +
               "the other";
    if (coupling.shared == rounds) return words + both + " share a memory path" + in(rounds);
    if (coupling.in_part == rounds) return words + both + " share a memory path in part" + in(rounds);
    return base::join(words, both, " share a memory path in ", coupling.shared, " of ", rounds, " rounds, in part in ",
                      coupling.in_part, ", not at all in ", coupling.apart,
                      ": this changes with time, so compare only within one run");
}

void print_limits(std::ostream& out, const std::vector<StressorLimit>& entries)
{
    std::vector<std::vector<std::string>> lines{
        {"stressor", "CPUs", "worst", "median", "best", "rounds", "measured", "windows of 100 ms hold"}};
    for (const StressorLimit& entry : entries) {
        const auto line = [&](const Limit& limit, double window, std::string (*figure)(double)) {
            if (limit.best <= 0.0) return;
            lines.push_back({stressor_text(entry.stressor, entry.options), std::to_string(entry.cpus),
                             figure(limit.worst), figure(limit.median), figure(limit.best),
                             std::to_string(entry.rounds), entry.measured,
                             entry.window.windows > 0 ? figure(window) : "-"});
        };
        line(entry.bytes_per_s, entry.window.bytes_per_s, [](double speed) { return base::speed_text(speed); });
        line(entry.operations_per_s, entry.window.operations_per_s, base::operations_text);
    }
    out << base::table_text(lines, 1);
}

int calibrate(const Calibration& calibration)
{
    const bool asked_for = !calibration.stressors.empty();
    std::vector<Item> items =
        items_of(asked_for ? configured_by(calibration.stressors, calibration.round) : configured_by_default(),
                 calibration.cpus);
    add_limits(calibration.limits_file, {});  // fails now rather than after the last round
    base::bind_this_thread(calibration.cpus);
    const bool complete =
        try_all(items, asked_for, calibration.budgets) && measure_rounds(items, asked_for, calibration);
    if (items.empty()) base::fail("no stressor can be calibrated here");
    if (!complete) {
        base::warn("stopped before the last round: no limits were saved");
        return base::exit_promise_not_kept;
    }
    std::optional<WorstShape> worst;
    if (calibration.victim) {
        worst = find_worst_shape({.victim = *calibration.victim,
                                  .cpus = calibration.cpus,
                                  .budgets = calibration.budgets,
                                  .seed = calibration.seed});
        if (!worst) {
            base::warn("stopped before the worst shape was found: no limits were saved");
            return base::exit_promise_not_kept;
        }
    }
    const std::vector<StressorLimit> entries = entries_of(items, calibration);
    add_limits(calibration.limits_file, entries, worst);
    print_limits(std::cout, entries);
    tell_couplings(std::cout, items);
    if (worst) std::cout << text(*worst) << "\n";
    tell_waiting(items);
    std::cout << "saved in " << calibration.limits_file.string() << "\n";
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace noisegen
