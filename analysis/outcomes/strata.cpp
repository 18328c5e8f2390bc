// SPDX-License-Identifier: Apache-2.0
#include "analysis/outcomes/strata.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace analysis {

namespace {

struct Place {
    std::string target;
    std::string location;
    std::string bits;
    auto operator<=>(const Place&) const = default;
};

Place place_of(const ClassedTrial& one)
{
    return {one.trial.target, one.trial.location, one.trial.bits};
}

bool is_whole_path(const std::string& location)
{
    return location.starts_with("model/") || location.starts_with("optimizer/");
}

// True if the path is at the place: "optimizer/momentum/layers.0.weight" is at layers.0.weight, like
// "model/layers.0.weight".
bool is_at(const std::string& path, const Place& place)
{
    if (is_whole_path(place.location)) return path.starts_with(place.location);
    if (place.target != "both" && !path.starts_with(place.target + "/")) return false;
    const std::size_t first = path.find('/');
    const std::size_t last = path.starts_with("optimizer/") ? path.find('/', first + 1) : first;
    return last != std::string::npos && path.compare(last + 1, place.location.size(), place.location) == 0;
}

// True if bits such as "0-31" or "1" include all of `some`; empty: all bits.
bool is_among(const std::string& some, const std::string& bits)
{
    if (bits.empty()) return true;
    if (some.empty()) return false;
    const std::vector<std::string> inner = base::split(some, '-');
    const std::vector<std::string> outer = base::split(bits, '-');
    return base::parse<int>(outer.front()) <= base::parse<int>(inner.front()) &&
           base::parse<int>(inner.back()) <= base::parse<int>(outer.back());
}

bool is_within(const Place& inner, const Place& outer)
{
    return inner != outer && (inner.target == outer.target || outer.target == "both") &&
           inner.location.starts_with(outer.location) && is_among(inner.bits, outer.bits);
}

// Properties in which trials may differ, other than where bits are drawn from, and guards that only report.
using Condition = std::tuple<std::string, std::int64_t, std::int64_t, std::string, std::int64_t, std::string>;

Condition condition_of(const ClassedTrial& one)
{
    const std::string repaired_by = is_left_to_itself(one) ? std::string{} : one.trial.guard;
    return {one.strategy, one.trial.step, one.trial.steps, one.trial.rank, one.trial.count, repaired_by};
}

struct Stratum {
    double bits = 0.0;
    double trials = 0.0;

    double density() const { return trials / std::max(1.0, bits); }
};

using Strata = std::map<Place, Stratum>;

// Trials per bit, by condition. A condition that never draws the bit is missing.
using Densities = std::map<Condition, double>;

bool is_located(const ClassedTrial& one)
{
    return one.trial.count == 1 && !one.outcome.path.empty() && !one.outcome.bits.empty();
}

// A population of trials. Where strata overlap (all bits, and bit 1 again), the probability of a bit is the sum over
// all strata that include it: the balance heuristic of Veach and Guibas (SIGGRAPH 1995).
class Population {
 public:
    void add(const ClassedTrial& one)
    {
        Stratum& stratum = conditions_[condition_of(one)][place_of(one)];
        stratum.bits = std::max(stratum.bits, one.outcome.drawn_from);
        stratum.trials += 1.0;
    }

    // To be called after the last trial was added. If all trials of a stratum crashed, its size is taken from other
    // conditions.
    void finish()
    {
        std::map<Place, double> bits;
        for (const auto& [condition, strata] : conditions_)
            for (const auto& [place, stratum] : strata) bits[place] = std::max(bits[place], stratum.bits);
        for (auto& [condition, strata] : conditions_)
            for (auto& [place, stratum] : strata)
                if (stratum.bits == 0.0) stratum.bits = bits.at(place);
    }

    double weight(const ClassedTrial& one)
    {
        const Densities& densities = densities_at(one);
        const auto here = densities.find(condition_of(one));
        const double density = here == densities.end() ? 0.0 : here->second;
        const Place place = place_of(one);
        const bool is_counted =
            !is_located(one) || (is_at(one.outcome.path, place) && is_among(one.outcome.bits, place.bits));
        const double own = is_counted ? 0.0 : conditions_.at(condition_of(one)).at(place).density();
        const auto conditions = static_cast<double>(densities.size() + (here == densities.end() ? 1 : 0));
        return 1.0 / (density + own) / conditions;
    }

 private:
    // Densities at the bit that flipped. A trial that crashed, or flipped several bits, stands for all bits of its
    // stratum; an overlapping stratum counts if it contains them all.
    const Densities& densities_at(const ClassedTrial& one)
    {
        const bool located = is_located(one);
        const Place place = located ? Place{{}, one.outcome.path, one.outcome.bits} : place_of(one);
        const auto [found, is_new] = known_[located].try_emplace(place);
        if (!is_new) return found->second;
        for (const auto& [condition, strata] : conditions_)
            for (const auto& [other, stratum] : strata) {
                const bool holds = located ? is_at(place.location, other) && is_among(place.bits, other.bits)
                                           : place == other || is_within(place, other);
                if (holds) found->second[condition] += stratum.density();
            }
        return found->second;
    }

    std::map<Condition, Strata> conditions_;
    std::map<bool, std::map<Place, Densities>> known_;  // true: places of bits; false: of strata
};

// Bits that trials were drawn from, by place. Places inside of others are left out.
std::map<Place, double> outermost(const std::vector<const ClassedTrial*>& trials)
{
    std::map<Place, double> places;
    for (const ClassedTrial* one : trials) {
        double& bits = places[place_of(*one)];
        bits = std::max(bits, one->outcome.drawn_from);
    }
    std::map<Place, double> outer;
    for (const auto& [place, bits] : places) {
        const auto holds_it = [&place = place](const auto& other) {
            return place.target == other.first.target && is_within(place, other.first);
        };
        if (std::none_of(places.begin(), places.end(), holds_it)) outer[place] = bits;
    }
    return outer;
}

}  // namespace

std::string per_target(const ClassedTrial& one)
{
    return base::join(one.strategy, "\n", one.trial.target);
}

std::string per_flips(const ClassedTrial& one)
{
    return base::join(per_target(one), "\n", one.trial.count);
}

std::string per_step(const ClassedTrial& one)
{
    return base::join(per_flips(one), "\n", one.trial.step);
}

std::string together(const ClassedTrial&)
{
    return {};
}

std::vector<WeightedTrial> weighed(const std::vector<const ClassedTrial*>& trials, const PopulationOf& population_of)
{
    std::map<std::string, Population> populations;
    for (const ClassedTrial* one : trials) populations[population_of(*one)].add(*one);
    for (auto& [name, population] : populations) population.finish();
    std::vector<WeightedTrial> weights;
    weights.reserve(trials.size());
    for (const ClassedTrial* one : trials)
        weights.push_back({.trial = one, .weight = populations.at(population_of(*one)).weight(*one)});
    return weights;
}

double bits_of(const std::vector<const ClassedTrial*>& trials)
{
    std::map<std::string, double> sums;
    for (const auto& [place, bits] : outermost(trials)) sums[place.target] += bits;
    return std::max(sums["both"], sums["model"] + sums["optimizer"]);
}

bool draw_from_the_same(const std::vector<const ClassedTrial*>& some, const std::vector<const ClassedTrial*>& others)
{
    const auto places = [](const std::vector<const ClassedTrial*>& trials) {
        std::set<Place> found;
        for (const auto& [place, bits] : outermost(trials)) found.insert(place);
        return found;
    };
    return places(some) == places(others);
}

}  // namespace analysis
