#include "analysis/outcomes/strata.hpp"

#include "base/units.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace analysis {

namespace {

// What differs in nothing but where bits are drawn from.
using Group = std::tuple<std::int64_t, std::int64_t, std::string, std::string, std::string, std::int64_t>;

Group group_of(const base::Trial& trial)
{
    return {trial.step, trial.count, trial.target, trial.rank, trial.guard, trial.steps};
}

struct Stratum {
    double bits = 0.0;
    double trials = 0.0;
};

using Place = std::pair<std::string, std::string>;  // location and bits
using Strata = std::map<Place, Stratum>;

// "optimizer/momentum/layers.0.weight" is of layers.0.weight, as "model/layers.0.weight" is.
bool is_at(const std::string& path, const std::string& location)
{
    if (path.starts_with(location)) return true;
    const std::size_t first = path.find('/');
    const std::size_t last = path.starts_with("optimizer/") ? path.find('/', first + 1) : first;
    return last != std::string::npos && path.compare(last + 1, location.size(), location) == 0;
}

// "0-31", "1"; empty: all.
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
    return inner != outer && inner.first.starts_with(outer.first) && is_among(inner.second, outer.second);
}

// Each trial stands for the bits of its stratum, divided by its trials. Where strata overlap (all bits, and bit 1 once
// more) a bit was as likely drawn as all strata that hold it make it: the balance heuristic of Veach and Guibas
// (SIGGRAPH 1995). A crashed trial has no bits of its own; others of the stratum have.
double weight_of(const ClassedTrial& one, const Strata& strata)
{
    const Stratum& own = strata.at({one.trial.location, one.trial.bits});
    const double density = own.trials / std::max(1.0, own.bits);
    const bool is_one = one.trial.count == 1 && !one.outcome.path.empty() && !one.outcome.bits.empty();
    if (!is_one) return 1.0 / density;
    double sum = density;
    for (const auto& [place, other] : strata)
        if (&other != &own && is_at(one.outcome.path, place.first) && is_among(one.outcome.bits, place.second))
            sum += other.trials / std::max(1.0, other.bits);
    return 1.0 / sum;
}

}  // namespace

void weigh(std::vector<ClassedTrial>& trials)
{
    std::map<Group, Strata> groups;
    const auto is_drawn = [](const ClassedTrial& one) { return one.trial.kind == base::trial_kind::trial; };
    for (const ClassedTrial& one : trials) {
        if (!is_drawn(one)) continue;
        Stratum& stratum = groups[group_of(one.trial)][{one.trial.location, one.trial.bits}];
        stratum.bits = std::max(stratum.bits, one.outcome.drawn_from);
        stratum.trials += 1.0;
    }
    for (ClassedTrial& one : trials)
        if (is_drawn(one)) one.weight = weight_of(one, groups.at(group_of(one.trial)));
}

double bits_of(const std::vector<const ClassedTrial*>& trials)
{
    std::map<std::string, std::map<Place, double>> targets;
    for (const ClassedTrial* one : trials) {
        double& bits = targets[one->trial.target][{one->trial.location, one->trial.bits}];
        bits = std::max(bits, one->outcome.drawn_from);
    }
    std::map<std::string, double> sums;
    for (const auto& [target, strata] : targets)
        for (const auto& [place, bits] : strata) {
            const auto holds_it = [&place = place](const auto& other) { return is_within(place, other.first); };
            if (std::none_of(strata.begin(), strata.end(), holds_it)) sums[target] += bits;
        }
    return std::max(sums["both"], sums["model"] + sums["optimizer"]);
}

}  // namespace analysis
