// SPDX-License-Identifier: Apache-2.0
// Finds differences between runs in their records.
#include "analysis/report/pooled/pooled_report.hpp"
#include "analysis/results/node_placement.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/record.hpp"
#include "base/contract/factor_name.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace analysis {

namespace {

using base::join;
using Json = nlohmann::ordered_json;

constexpr double much = 0.05;  // numbers differ if they are further apart than this share of the largest

struct Property {
    std::string name;
    std::function<std::string(const Report&)> text;
};

struct Quantity {
    std::string name;
    std::function<std::optional<double>(const Report&)> number;
    double least = 0.0;  // smaller values count as zero
};

const Json& training_json(const Report& report)
{
    static const Json none = Json::object();
    const Record* record = training_record(report);
    return record == nullptr ? none : record->json;
}

const Json& noise_json(const Report& report)
{
    static const Json none = Json::object();
    const std::vector<const Record*> records = noise_records(report);
    return records.empty() ? none : records.front()->json;
}

std::string cpus_of(const Report& report, base::CpuSet NodePlaces::*whose)
{
    std::vector<std::string> nodes;
    for (const NodePlaces& node : node_places(report)) nodes.push_back(base::format_cpus(node.*whose));
    return base::join_words(nodes, " | ");
}

// CPUs of each rank: "0:0-1 1:2-3".
std::string ranks_on_cpus(const Report& report)
{
    constexpr std::size_t most = 16;
    std::vector<std::string> words;
    for (const auto& [host, ranks] : bound_ranks(report))
        for (const BoundRank& rank : ranks)
            if (words.size() < most) words.push_back(join(rank.rank, ":", base::format_cpus(rank.cpus)));
    return base::join_words(words, " ");
}

std::optional<double> steal_percent(const Report& report)
{
    const Json& noise = noise_json(report);
    const auto before = number_in(object_in(noise, "machine"), "steal_s");
    const auto after = number_in(object_in(noise, "machine_end"), "steal_s");
    const auto began = number_in(noise, "started_monotonic_ns");
    const auto ended = number_in(noise, "end_ns");
    const double cpus = number_in(noise, "cpus_online").value_or(0.0);
    if (!before || !after || !began || !ended || *ended <= *began || cpus < 1.0) return std::nullopt;
    return 100.0 * (*after - *before) / cpus / ((*ended - *began) / 1e9);
}

std::optional<double> scaled(std::optional<double> number, double unit)
{
    return number ? std::optional{*number / unit} : std::nullopt;
}

std::vector<Property> properties()
{
    return {
        {"host", [](const Report& r) { return word(training_json(r), "host"); }},
        {"kernel", [](const Report& r) { return word(training_json(r), "kernel"); }},
        {"processor", [](const Report& r) { return word(training_json(r), "cpu_model"); }},
        {"Crosstalk", [](const Report& r) { return word(training_json(r), "git_revision"); }},
        {"CPUs of the training", [](const Report& r) { return cpus_of(r, &NodePlaces::training); }},
        {"CPUs of the noise", [](const Report& r) { return cpus_of(r, &NodePlaces::noise); }},
        {"CPUs by rank", ranks_on_cpus},
        {"clock source", [](const Report& r) { return word(object_in(noise_json(r), "machine"), "clocksource"); }},
        {"huge pages", [](const Report& r) { return word(object_in(noise_json(r), "machine"), "huge_pages"); }},
        {"memory of the noise", [](const Report& r) { return word(noise_json(r), "memory"); }},
    };
}

std::vector<Quantity> quantities()
{
    const auto machine = [](const char* key, double unit) {
        return [=](const Report& r) { return scaled(number_in(object_in(noise_json(r), "machine"), key), unit); };
    };
    return {
        {"clock (MHz)", machine("mhz", 1.0)},
        {"steal (% of the CPUs)", steal_percent, 0.5},
        {"free memory (GiB)", machine("free_bytes", 1 << 30U)},
        {"slot (s)", [](const Report& r) { return scaled(number_in(noise_json(r), "slot_ns"), 1e9); }},
        {"lateness of slots (p99, ms)",
         [](const Report& r) { return scaled(number_in(object_in(noise_json(r), "lateness_ns"), "p99"), 1e6); }, 5.0},
        {"known delay (ms)",
         [](const Report& r) {
             return scaled(number_in(object_in(training_json(r), "training"), "control_delay_ns"), 1e6);
         }},
        {"quiet step (ms)", [](const Report& r) { return std::optional{r.verdict.quiet_step_ms}; }},
        {"outliers (% of steps)",
         [](const Report& r) {
             const auto steps = static_cast<double>(std::max<std::size_t>(1, r.analysis.long_steps.kind.size()));
             return std::optional{100.0 * static_cast<double>(r.analysis.long_steps.count()) / steps};
         },
         1.0},
    };
}

// Bytes that the noise moved per second while it was on.
std::optional<double> bytes_moved(const Report& report, const std::string& noise)
{
    for (const Json& level : list_in(noise_json(report), "factor_levels"))
        if (base::factor_name(word(level, "factor"), word(level, "level")) == noise)
            return scaled(number_in(level, "bytes_per_s"), 1e9);
    return std::nullopt;
}

std::vector<Quantity> noise_quantities(const Report& report)
{
    std::vector<Quantity> all;
    for (const Json& level : list_in(noise_json(report), "factor_levels")) {
        const std::string noise = base::factor_name(word(level, "factor"), word(level, "level"));
        if (number_in(level, "bytes_per_s").value_or(0.0) <= 0.0) continue;
        all.push_back({noise + " moved (GB/s)", [noise](const Report& r) { return bytes_moved(r, noise); }});
    }
    return all;
}

Difference difference(const Property& property, const std::vector<const NamedReport*>& parts)
{
    Difference found{property.name, {}};
    std::set<std::string> seen;
    for (const NamedReport* part : parts) {
        found.values.push_back(property.text(part->report));
        if (!found.values.back().empty()) seen.insert(found.values.back());
    }
    found.differs = seen.size() > 1;
    return found;
}

Difference difference(const Quantity& quantity, const std::vector<const NamedReport*>& parts)
{
    Difference found{quantity.name, {}};
    std::vector<double> seen;
    for (const NamedReport* part : parts) {
        const std::optional<double> number = quantity.number(part->report);
        found.values.push_back(number ? fixed(*number, 2) : "");
        if (number) seen.push_back(*number);
    }
    if (seen.empty()) return found;
    const auto [low, high] = std::minmax_element(seen.begin(), seen.end());
    const double size = std::max(std::abs(*low), std::abs(*high));
    found.differs = size > quantity.least && *high - *low > much * size;
    return found;
}

bool is_known(const Difference& difference)
{
    return std::any_of(difference.values.begin(), difference.values.end(),
                       [](const std::string& value) { return !value.empty(); });
}

}  // namespace

std::vector<Difference> differences(const std::vector<const NamedReport*>& parts)
{
    std::vector<Difference> all;
    for (const Property& property : properties()) all.push_back(difference(property, parts));
    for (const Quantity& quantity : quantities()) all.push_back(difference(quantity, parts));
    for (const Quantity& quantity : noise_quantities(parts.front()->report)) all.push_back(difference(quantity, parts));
    std::erase_if(all, [](const Difference& one) { return !is_known(one); });
    return all;
}

}  // namespace analysis
