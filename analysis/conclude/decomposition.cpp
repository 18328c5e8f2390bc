// SPDX-License-Identifier: Apache-2.0
#include "analysis/conclude/decomposition.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace analysis {

namespace {

std::string amount(double percent)
{
    char text[32];
    std::snprintf(text, sizeof text, "%+.1f %%", percent);
    return text;
}

const Change* find(const std::vector<Change>& changes, int rank, const std::string& name)
{
    const auto found = std::find_if(changes.begin(), changes.end(),
                                    [&](const Change& change) { return change.rank == rank && change.name == name; });
    return found == changes.end() ? nullptr : &*found;
}

const char* name_of(Part part)
{
    return part_names[static_cast<std::size_t>(part)];
}

double percent_of(const std::vector<Change>& parts, int rank, Part part)
{
    const Change* found = find(parts, rank, name_of(part));
    return found == nullptr ? 0.0 : found->percent;
}

// True if any part of the rank's own work grew.
bool own_grew(const std::vector<Change>& parts, int rank)
{
    return std::any_of(parts.begin(), parts.end(), [&](const Change& part) {
        const bool is_own = part.name == name_of(Part::own) || part.name == name_of(Part::input) ||
                            part.name == name_of(Part::checkpoint);
        return part.rank == rank && is_own && part.interval.low > 0.0;
    });
}

double own_percent(const std::vector<Change>& parts, int rank)
{
    return percent_of(parts, rank, Part::own) + percent_of(parts, rank, Part::input) +
           percent_of(parts, rank, Part::checkpoint);
}

// The rank with the largest value of a quantity; the first of equals.
template <class Quantity>
int rank_with_most(const std::vector<Change>& parts, Quantity quantity)
{
    int best = parts.front().rank;
    for (const Change& part : parts)
        if (quantity(part.rank) > quantity(best)) best = part.rank;
    return best;
}

double part_percent(const Decomposition& found, Part part)
{
    return percent_of(found.parts, found.rank, part);
}

std::vector<Change> changes(const EffectTable& effects, Family family, const Effect& step, double confidence)
{
    std::vector<Change> all;
    for (const Effect& effect : of(effects, family))
        if (effect.factor == step.factor && effect.level == step.level && effect.kind == step.kind)
            all.push_back({effect.rank, effect.phase, effect.percent.value, effect.percent.interval(confidence)});
    return all;
}

}  // namespace

std::string text(Resource resource)
{
    switch (resource) {
        case Resource::memory:
            return "memory";
        case Resource::network:
            return "network";
        case Resource::io:
            return "I/O";
        case Resource::cpu:
            return "CPU";
        case Resource::gpu:
            return "GPU";
        case Resource::unknown:
            break;
    }
    return "";
}

Decomposition decompose(double step_percent, const Interval& step, const std::vector<Change>& parts,
                        const std::vector<Change>& own)
{
    Decomposition found;
    found.step_percent = step_percent;
    found.step_interval = step;
    found.of_ranks = parts;
    found.own = own;
    double explained = 0.0;
    if (!parts.empty()) {
        found.rank = rank_with_most(parts, [&](int rank) { return own_percent(parts, rank); });
        if (own_grew(parts, found.rank) && own_percent(parts, found.rank) > 0.0) found.critical_rank = found.rank;
        for (const Part part : {Part::own, Part::input, Part::checkpoint, Part::waiting, Part::transfer})
            if (const Change* change = find(parts, found.rank, name_of(part))) {
                found.parts.push_back(*change);
                explained += change->percent;
            }
    }
    const double left = step_percent - explained;
    found.parts.push_back({found.rank, unexplained, left, {left, left}});
    if (!found.critical_rank) return found;
    const Change* most = nullptr;
    for (const Change& region : own)
        if (region.rank == found.rank && (most == nullptr || region.percent > most->percent)) most = &region;
    if (most != nullptr && most->interval.low > 0.0) {
        found.region = most->name;
        found.region_percent = most->percent;
    }
    const int waiting = rank_with_most(parts, [&](int rank) { return percent_of(parts, rank, Part::waiting); });
    const Change* waits = find(parts, waiting, name_of(Part::waiting));
    // The critical rank does not wait for itself, so only waiting beyond its own waiting can be for it.
    const double beyond = waits == nullptr ? 0.0 : waits->percent - percent_of(parts, found.rank, Part::waiting);
    if (waiting != found.rank && waits != nullptr && waits->interval.low > 0.0 && beyond > waits->percent / 2.0)
        found.waits = *waits;
    return found;
}

std::optional<Decomposition> decomposition_of(const EffectTable& effects, const Effect& step, double confidence)
{
    const std::vector<Change> parts = changes(effects, Family::part, step, confidence);
    if (parts.empty()) return {};
    Decomposition found = decompose(step.percent.value, step.percent.interval(confidence), parts,
                                    changes(effects, Family::own_work, step, confidence));
    found.resource = resource_of_stressor(step.stressor);
    found.by_design = found.resource != Resource::unknown;
    if (found.by_design)
        found.evidence = base::join("by design: the noise was ", step.stressor);
    else
        name_resource(found, {});
    return found;
}

Decomposition decomposition_of(const Comparison& comparison)
{
    const PhaseComparison& step = comparison.phases.front();
    const auto all = [](const std::vector<PhaseComparison>& rows) {
        std::vector<Change> changes;
        for (const PhaseComparison& row : rows) changes.push_back({row.rank, row.phase, row.percent, row.interval});
        return changes;
    };
    Decomposition found = decompose(step.percent, step.interval, all(comparison.parts), all(comparison.own));
    std::size_t place = 0;  // index of the rank
    for (std::size_t i = 0; i < comparison.parts.size(); ++i)
        if (comparison.parts[i].rank == found.rank) place = i / part_count;
    const bool has_cpu = place < comparison.cpu_percent.size();
    name_resource(found, has_cpu ? comparison.cpu_percent[place] : std::nullopt);
    return found;
}

Resource resource_of_stressor(const std::string& stressor)
{
    static const std::map<std::string, Resource> known{{"memory", Resource::memory},   {"cache", Resource::memory},
                                                       {"capacity", Resource::memory}, {"network", Resource::network},
                                                       {"io", Resource::io},           {"metadata", Resource::io},
                                                       {"cpu", Resource::cpu},         {"gpu", Resource::gpu}};
    const auto found = known.find(stressor.substr(0, stressor.find('.')));
    return found == known.end() ? Resource::unknown : found->second;
}

std::string largest_part(const Decomposition& found)
{
    if (found.step_interval.low <= 0.0) return "";
    const auto largest = std::max_element(found.parts.begin(), found.parts.end(),
                                          [](const Change& a, const Change& b) { return a.percent < b.percent; });
    return largest == found.parts.end() || largest->interval.low <= 0.0 ? "" : largest->name;
}

// Signatures:
// 1. Input and checkpoints wait for files.
// 2. The shortest exchange of all ranks got longer: the network is slower, whichever rank was late.
// 3. Own work grew, and CPU time with it: the same work took more CPU time, as with slower memory.
// 4. Own work grew without CPU time: the rank did not run, because others had its CPU, or because it slept.
void name_resource(Decomposition& found, std::optional<double> cpu_percent)
{
    const std::string largest = largest_part(found);
    const std::string rank = base::join("rank ", found.rank);
    if (largest == name_of(Part::input) || largest == name_of(Part::checkpoint)) {
        const Part part = largest == name_of(Part::input) ? Part::input : Part::checkpoint;
        found.resource = Resource::io;
        found.evidence = base::join("by signature: ", largest, " of ", rank, " ", amount(part_percent(found, part)));
    } else if (largest == name_of(Part::transfer)) {
        found.resource = Resource::network;
        found.evidence =
            base::join("by signature: the shortest exchange of any rank ", amount(part_percent(found, Part::transfer)),
                       ", own work of ", rank, " ", amount(part_percent(found, Part::own)));
    } else if (largest == name_of(Part::own)) {
        const double own = part_percent(found, Part::own);
        found.evidence = base::join("own work of ", rank, " ", amount(own), ", transfer ",
                                    amount(part_percent(found, Part::transfer)));
        if (!cpu_percent) {
            found.evidence += ": memory or CPU (CPU time would distinguish them)";
            return;
        }
        found.resource = *cpu_percent > own / 2.0 ? Resource::memory : Resource::cpu;
        found.evidence = base::join(
            "by signature: ", found.evidence, ", its CPU time ", amount(*cpu_percent),
            found.resource == Resource::memory ? ": the same work took more CPU time" : ": it was not running");
    }
}

std::string where(const std::string& region)
{
    return region.starts_with("before ") || region.starts_with("(") ? region : "in " + region;
}

std::string sentence(const Decomposition& found)
{
    if (!found.critical_rank || found.region.empty()) return "";
    std::string text =
        base::join("rank ", *found.critical_rank, " spends ", amount(found.region_percent), " in ", found.region);
    if (found.waits)
        text += base::join(", rank ", found.waits->rank, " waits ", amount(found.waits->percent), " for it");
    return text;
}

}  // namespace analysis
