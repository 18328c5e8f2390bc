// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/instruments/process_metrics.hpp"

#include "base/error.hpp"
#include "base/words.hpp"
#include "ddl-workloads/instruments/software_events.hpp"
#include "trace-tools/otf2/write/counters.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace ddl {

namespace {

constexpr std::string_view only_perf = "perf::";

std::vector<std::string> names_of_software_events()
{
    std::vector<std::string> names;
    for (const SoftwareEvent& event : software_events()) names.push_back(event.name);
    return names;
}

// Reason why perf_event_open cannot be used; none if it can.
std::optional<std::string> why_no_perf()
{
    try {
        const SoftwareEventCounts trial{names_of_software_events()};
        return {};
    } catch (const base::Unavailable& why) {
        return why.what();
    }
}

[[noreturn]] void refuse(const std::string& why, const std::string& name)
{
    std::vector<std::string> here;
    const bool perf = !why_no_perf();
    for (const SoftwareEvent& event : software_events())
        if (perf || event.in_resource_usage) here.push_back(event.name);
    for (const std::string& preset : otf2::available_presets()) here.push_back(preset);
    base::fail_usage("--metrics: ", why, base::did_you_mean(name, here),
                     " (available on this machine: ", base::join_words(here, ", "),
                     otf2::counters_available() ? ", and those listed by papi_native_avail)" : ")");
}

void check_with_papi(const std::vector<std::string>& names, const std::string& blamed)
{
    try {
        const otf2::CounterReader trial{names};
    } catch (const base::Error& why) {
        refuse(why.what(), blamed);
    }
}

// The first presets, as many as the processor can count at the same time.
std::vector<std::string> countable_together(const std::vector<std::string>& presets)
{
    const std::vector<std::string> here = otf2::available_presets();
    std::vector<std::string> chosen;
    for (const std::string& preset : presets) {
        if (std::find(here.begin(), here.end(), preset) == here.end()) continue;
        chosen.push_back(preset);
        try {
            const otf2::CounterReader trial{chosen};
        } catch (const base::Error&) {
            chosen.pop_back();
        }
    }
    return chosen;
}

std::vector<Metric> described(const std::vector<std::string>& names, const std::string& source)
{
    std::vector<Metric> metrics;
    for (const std::string& name : names) {
        const SoftwareEvent& event = *find_software_event(name);
        metrics.push_back({.name = name,
                           .unit = event.unit,
                           .description = event.description + ", of all threads",
                           .source = source});
    }
    return metrics;
}

}  // namespace

std::string text(const Metric& metric)
{
    return metric.description + " (source: " + metric.source + ")";
}

nlohmann::ordered_json to_json(const std::vector<Metric>& metrics)
{
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Metric& metric : metrics)
        json.push_back({{"name", metric.name}, {"unit", metric.unit}, {"source", metric.source}});
    return json;
}

ProcessMetrics::ProcessMetrics(const std::string& choice)
{
    if (choice == "auto")
        choose_from_all();
    else if (choice != "none")
        choose(base::split(choice, ','));
}

void ProcessMetrics::choose_from_all()
{
    try {
        const std::vector<std::string> presets =
            countable_together({"PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L3_TCM", "PAPI_L2_DCM", "PAPI_RES_STL"});
        if (presets.empty())
            base::unavailable(otf2::counters_available() ? "PAPI finds no hardware counters" : "built without PAPI");
        count_with_papi(presets);
    } catch (const base::Error& why) {
        left_out_.push_back(base::join("PAPI presets: ", why.what()));
    }

    std::vector<std::string> names = names_of_software_events();
    const std::optional<std::string> no_perf = why_no_perf();
    if (!no_perf) return count_with_perf(names);
    std::erase_if(names, [](const std::string& name) { return !find_software_event(name)->in_resource_usage; });
    count_with_getrusage(names);
    left_out_.push_back("perf software events: " + *no_perf);
}

void ProcessMetrics::choose(const std::vector<std::string>& names)
{
    if (names.empty()) base::fail_usage("--metrics: give auto, none, or names of events");
    const std::optional<std::string> no_perf = why_no_perf();
    std::vector<std::string> papi;
    std::vector<std::string> kernel;
    for (const std::string& name : names) {
        const bool strict = name.starts_with(only_perf);
        const std::string short_name = strict ? name.substr(only_perf.size()) : name;
        const SoftwareEvent* const event = find_software_event(short_name);
        std::vector<std::string>& kind = event != nullptr ? kernel : papi;
        const std::string& counted = event != nullptr ? short_name : name;
        if (std::find(kind.begin(), kind.end(), counted) != kind.end())
            base::fail_usage("--metrics names ", counted, " twice");
        if (event == nullptr)
            check_with_papi({name}, short_name);
        else if (no_perf && (strict || !event->in_resource_usage))
            refuse(base::join("cannot count ", name, ": ", *no_perf), "");
        kind.push_back(counted);
    }
    if (!papi.empty()) {
        check_with_papi(papi, "");
        count_with_papi(papi);
    }
    if (kernel.empty()) return;
    if (no_perf)
        count_with_getrusage(kernel);
    else
        count_with_perf(kernel);
}

void ProcessMetrics::count_with_papi(const std::vector<std::string>& names)
{
    const auto counters =
        std::make_shared<otf2::CounterReader>(names, otf2::CountedThreads::this_one_and_those_it_starts);
    std::vector<Metric> metrics;
    for (const otf2::CountedEvent& event : counters->events()) {
        const bool one = event.threads == otf2::CountedThreads::this_one;
        metrics.push_back(
            {.name = event.name,
             .unit = event.unit,
             .description = event.description + (one ? ", of the main thread" : ", of the main thread and later ones"),
             .source = event.source});
    }
    add(metrics, [counters] { return counters->read(); });
}

void ProcessMetrics::count_with_perf(const std::vector<std::string>& names)
{
    const auto counts = std::make_shared<SoftwareEventCounts>(names);
    add(described(names, "perf software event"), [counts] { return counts->read(); });
}

void ProcessMetrics::count_with_getrusage(const std::vector<std::string>& names)
{
    add(described(names, "getrusage"), [names] { return resource_usage(names); });
}

void ProcessMetrics::add(const std::vector<Metric>& metrics, Reader reader)
{
    metrics_.insert(metrics_.end(), metrics.begin(), metrics.end());
    readers_.push_back(std::move(reader));
}

std::vector<std::int64_t> ProcessMetrics::read()
{
    std::vector<std::int64_t> values;
    try {
        for (const Reader& reader : readers_) {
            const std::vector<std::int64_t> some = reader();
            values.insert(values.end(), some.begin(), some.end());
        }
    } catch (const std::exception& error) {
        base::warn(error.what(), "; the training continues without it");
        readers_.clear();
        return {};
    }
    return values;
}

}  // namespace ddl
