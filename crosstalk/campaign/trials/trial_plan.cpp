// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/trials/trial_plan.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/contract/stored_state.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/random.hpp"
#include "base/statistics.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/spec_keys.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <ostream>
#include <set>
#include <span>

namespace crosstalk {

namespace {

constexpr std::size_t most_trials = 1'000'000;

const SpecKeys<TrialSpec>& trial_keys()
{
    static const SpecKeys<TrialSpec> all{
        {"kind", "soft-errors", [](TrialSpec&, const std::string&) {}},
        spec_key("about", &TrialSpec::about, "purpose, as text"),
        spec_key("model", &TrialSpec::model, "model of ddl-train (mlp)"),
        spec_key("options", &TrialSpec::options, "more options of ddl-train"),
        spec_key("strategies", &TrialSpec::strategies, "strategies, each with all trials (ddp)"),
        spec_key("ranks", &TrialSpec::ranks, "ranks of the training (2)"),
        spec_key("moments", &TrialSpec::moments, "steps at whose start bits flip (50)"),
        spec_key("end", &TrialSpec::end, "last step of each trial (100)"),
        spec_key("locations", &TrialSpec::locations, "prefixes of tensor names; none: all of the target"),
        spec_key("bits", &TrialSpec::bits, "bits that may flip, counted from the left: 1, or 0-31 (0-31)"),
        spec_key("counts", &TrialSpec::counts, "numbers altered per trial (1)"),
        spec_key("targets", &TrialSpec::targets, "model, optimizer, both (model)"),
        spec_key("altered-ranks", &TrialSpec::altered_ranks, "all, or a rank's number (all)"),
        spec_key("guards", &TrialSpec::guards, "guards of ddl-train (none)"),
        spec_key("stores", &TrialSpec::stores, "codes of stored weights: fp32, int8, .. (none)"),
        spec_key("detects", &TrialSpec::detections, "detection of damaged weights: none, parity, range, both (none)"),
        spec_key("rates", &TrialSpec::rates, "bit error rates of a read (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)"),
        spec_key("reads", &TrialSpec::reads, "once, or each (once)"),
        spec_key("stored-trials", &TrialSpec::stored_trials, "trials per store, detection and rate in a block (5)"),
        spec_key("trials", &TrialSpec::trials, "trials per combination in a block (10); 0: none (with stores)"),
        spec_key("controls", &TrialSpec::controls,
                 "null trials and positive trials per moment and guard in a block (2)"),
        spec_key("blocks", &TrialSpec::blocks, "blocks, each with all combinations in random order (5)"),
        spec_key("seeds", &TrialSpec::seeds, "undisturbed trainings with other seeds, which define the band (8)"),
        spec_key("trial-time", &TrialSpec::trial_time, "time of a trial, for the estimate (500ms)"),
        spec_key("half-width", &TrialSpec::half_width, "largest half width of a share's interval (5%)"),
        spec_key("seed", &TrialSpec::seed, "seed of all draws and orders (1)"),
    };
    return all;
}

template <std::size_t Count>
void check_words(const char* key, const std::vector<std::string>& given, const std::array<const char*, Count>& known)
{
    const std::vector<std::string> words{known.begin(), known.end()};
    for (const std::string& one : given)
        if (std::find(words.begin(), words.end(), one) == words.end())
            base::fail_usage(key, ": '", one, "' is not one of ", base::join_words(words, ", "),
                             base::did_you_mean(one, words));
}

void check_stored_weights(const TrialSpec& spec)
{
    check_words("stores", spec.stores, base::stored::codes);
    check_words("detects", spec.detections, base::stored::detections);
    check_words("reads", spec.reads, base::stored::reads);
    for (const std::string& rate : spec.rates) {
        const auto number = base::parse<double>(rate);
        if (!(number >= 0.0 && number <= 1.0)) base::fail_usage("rates must be a probability from 0 to 1, not ", rate);
    }
}

// Checks bits such as "1" or "0-31".
void check_bits(const std::string& bits)
{
    constexpr int most = 63;
    const std::vector<std::string> ends = base::split(bits, '-');
    const auto first = base::parse<int>(ends.front());
    const auto last = base::parse<int>(ends.back());
    if (ends.size() > 2 || first < 0 || last > most || first > last)
        base::fail_usage("bits: '", bits, "' is not a range within 0-63, counted from the left");
}

void check_altered_rank(const std::string& rank, int ranks)
{
    if (rank == "all") return;
    const auto number = base::parse<int>(rank);
    if (number < 0 || number >= ranks) base::fail_usage("altered-ranks: no rank ", rank, " of ", ranks);
}

void check_trial_spec(const TrialSpec& spec)
{
    const auto at_least = [](const char* name, std::int64_t least, std::int64_t value) {
        if (value < least || value > 1'000'000) base::fail_usage(name, " must be from ", least, " to 1000000");
    };
    at_least("ranks", 1, spec.ranks);
    at_least("trials", spec.stores.empty() ? 1 : 0, spec.trials);
    at_least("stored-trials", 1, spec.stored_trials);
    at_least("controls", 1, spec.controls);
    at_least("blocks", 1, spec.blocks);
    at_least("seeds", 8, spec.seeds);
    for (const std::string& count : spec.counts) at_least("counts", 1, base::parse<std::int64_t>(count));
    for (const std::string& moment : spec.moments) {
        at_least("moments", 0, base::parse<std::int64_t>(moment));
        if (base::parse<std::int64_t>(moment) > spec.end) base::fail_usage("moment ", moment, " is after the end");
    }
    check_stored_weights(spec);
    for (const std::string& bits : spec.bits) check_bits(bits);
    for (const std::string& rank : spec.altered_ranks) check_altered_rank(rank, spec.ranks);
    for (const std::string& target : spec.targets)
        if (target != "model" && target != "optimizer" && target != "both")
            base::fail_usage("targets: '", target, "' is not one of model, optimizer, both");
    const double half_width = base::parse<base::Percent>(spec.half_width).fraction();
    if (!(half_width > 0.0 && half_width < 0.5)) base::fail_usage("half-width must be more than 0% and less than 50%");
    const auto* const empty = [&]() -> const char* {
        const std::map<const char*, const std::vector<std::string>*> lists{{"strategies", &spec.strategies},
                                                                           {"moments", &spec.moments},
                                                                           {"bits", &spec.bits},
                                                                           {"counts", &spec.counts},
                                                                           {"targets", &spec.targets},
                                                                           {"guards", &spec.guards},
                                                                           {"detects", &spec.detections},
                                                                           {"rates", &spec.rates},
                                                                           {"reads", &spec.reads},
                                                                           {"altered-ranks", &spec.altered_ranks}};
        for (const auto& [name, list] : lists)
            if (list->empty()) return name;
        return nullptr;
    }();
    if (empty != nullptr) base::fail_usage(empty, " must not be empty");
}

// Crosses the trials so far with all values of one column.
template <class Put>
void cross(std::vector<base::Trial>& trials, const std::vector<std::string>& values, Put put)
{
    std::vector<base::Trial> more;
    for (const base::Trial& trial : trials)
        for (const std::string& value : values) {
            more.push_back(trial);
            put(more.back(), value);
        }
    if (more.size() > most_trials) base::fail_usage("more than ", most_trials, " trials");
    trials = std::move(more);
}

void cross_moments(std::vector<base::Trial>& trials, const TrialSpec& spec)
{
    cross(trials, spec.moments, [&](base::Trial& trial, const std::string& moment) {
        trial.step = base::parse<std::int64_t>(moment);
        trial.steps = spec.end - trial.step;
    });
}

std::vector<base::Trial> moments_and_guards(const TrialSpec& spec)
{
    std::vector<base::Trial> trials{base::Trial{}};
    cross_moments(trials, spec);
    cross(trials, spec.guards, [](base::Trial& trial, const std::string& guard) { trial.guard = guard; });
    return trials;
}

std::vector<base::Trial> stored_in_block(const TrialSpec& spec)
{
    if (spec.stores.empty()) return {};
    std::vector<base::Trial> trials{base::Trial{.name = {}, .kind = base::trial_kind::stored}};
    cross_moments(trials, spec);
    cross(trials, spec.stores, [](base::Trial& trial, const std::string& store) { trial.store = store; });
    cross(trials, spec.detections, [](base::Trial& trial, const std::string& detect) { trial.detect = detect; });
    cross(trials, spec.rates,
          [](base::Trial& trial, const std::string& rate) { trial.rate = base::parse<double>(rate); });
    cross(trials, spec.reads, [](base::Trial& trial, const std::string& reads) { trial.reads = reads; });
    cross(trials, spec.altered_ranks, [](base::Trial& trial, const std::string& rank) { trial.rank = rank; });
    cross(trials, std::vector<std::string>(static_cast<std::size_t>(spec.stored_trials)),
          [](base::Trial&, const std::string&) {});
    return trials;
}

std::vector<base::Trial> one_block(const TrialSpec& spec)
{
    std::vector<base::Trial> trials = moments_and_guards(spec);
    const auto locations = spec.locations.empty() ? std::vector<std::string>{""} : spec.locations;
    cross(trials, locations, [](base::Trial& trial, const std::string& location) { trial.location = location; });
    cross(trials, spec.bits, [](base::Trial& trial, const std::string& bits) { trial.bits = bits; });
    cross(trials, spec.counts,
          [](base::Trial& trial, const std::string& count) { trial.count = base::parse<std::int64_t>(count); });
    cross(trials, spec.targets, [](base::Trial& trial, const std::string& target) { trial.target = target; });
    cross(trials, spec.altered_ranks, [](base::Trial& trial, const std::string& rank) { trial.rank = rank; });
    cross(trials, std::vector<std::string>(static_cast<std::size_t>(spec.trials)),
          [](base::Trial&, const std::string&) {});
    const std::vector<base::Trial> stored = stored_in_block(spec);
    trials.insert(trials.end(), stored.begin(), stored.end());
    for (base::Trial trial : moments_and_guards(spec))
        for (const char* kind : {base::trial_kind::null, base::trial_kind::positive})
            for (int i = 0; i < spec.controls; ++i) {
                trial.kind = kind;
                trials.push_back(trial);
            }
    return trials;
}

double percent_of(double share)
{
    return std::round(10'000.0 * share) / 100.0;
}

}  // namespace

TrialSpec read_trial_spec(const std::filesystem::path& file)
{
    return read_spec_of<TrialSpec>(file, trial_keys(),
                                   [](const TrialSpec& spec, const std::set<std::string>&) { check_trial_spec(spec); });
}

std::vector<base::Trial> make_trials(const TrialSpec& spec)
{
    std::vector<base::Trial> all;
    for (int block = 1; block <= spec.blocks; ++block) {
        std::vector<base::Trial> trials = one_block(spec);
        base::Random random = base::random_stream(spec.seed, static_cast<std::uint64_t>(block));
        base::shuffle(random, std::span{trials});
        for (std::size_t i = 0; i < trials.size(); ++i) {
            std::array<char, 32> name{};
            std::snprintf(name.data(), name.size(), "b%02d.%04zu", block, i + 1);
            trials[i].name = name.data();
            trials[i].block = block;
            trials[i].seed = 1 + base::draw_below(random, 1'000'000'000);
            all.push_back(trials[i]);
        }
        if (all.size() > most_trials) base::fail_usage("more than ", most_trials, " trials");
    }
    return all;
}

void make_trial_directory(const std::filesystem::path& directory, const std::string& spec,
                          const std::vector<base::Trial>& trials)
{
    base::WholeDirectory whole{directory};
    base::write_whole(whole.path() / base::campaign::spec, spec);
    base::write_trials(whole.path() / base::file::trials, trials);
    whole.finish();
}

void print_trials(std::ostream& out, const TrialSpec& spec, const std::vector<base::Trial>& trials)
{
    constexpr double confidence = 0.95;
    const double strategies = static_cast<double>(spec.strategies.size());
    const double hours = static_cast<double>(trials.size()) * strategies * base::seconds(spec.trial_time) / 3600.0;
    const auto real = static_cast<std::int64_t>(std::count_if(
        trials.begin(), trials.end(), [](const auto& one) { return one.kind == base::trial_kind::trial; }));
    const auto groups = static_cast<std::int64_t>(spec.targets.size() * spec.guards.size());
    const auto each = static_cast<double>(real / groups);
    const double wanted = base::parse<base::Percent>(spec.half_width).fraction();
    out << trials.size() << " trials in " << spec.blocks << " blocks for each of " << spec.strategies.size()
        << " strategies, about " << percent_of(hours / 100.0) << " hours\n";
    if (!spec.stores.empty())
        out << spec.blocks * spec.stored_trials << " trials of each store, detection, rate and reads at a moment\n";
    if (real == 0) return;
    out << real / groups << " trials of each target and guard: a share's interval is at most "
        << percent_of(base::wilson(each / 2.0, each, confidence).half_width()) << " points wide either way; "
        << percent_of(wanted) << " points take " << base::trials_for_half_width(wanted, confidence) << " trials\n";
}

base::Section trial_spec_section()
{
    return section_of("SPEC.ini of kind = soft-errors", trial_keys());
}

}  // namespace crosstalk
