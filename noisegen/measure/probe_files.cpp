// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/probe_files.hpp"

#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/programs/gnuplot.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace noisegen {

namespace {

nlohmann::ordered_json to_json(const Estimate& estimate)
{
    return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}, {"blocks", estimate.blocks}};
}

constexpr const char* probe_gp =
#include "noisegen/measure/probe.gp.inc"
    ;

// One of the stacked plots.
struct Panel {
    std::string name;  // name of its data file
    std::string title;
    Estimate Damage::*of;
    double low = 0.0;  // lower end of the axis
    double high = 1.0;
    double place(double value) const { return (value - low) / (high - low); }
};

constexpr double label_gap = 15.0 / 210.0;  // height of a label relative to a panel of probe.gp without titles and axes

// Extends the axis so that all intervals and 1 are visible.
void fit(Panel& panel, const std::vector<Damage>& damages)
{
    panel.low = panel.high = 1.0;
    for (const Damage& damage : damages) {
        const Estimate& estimate = damage.*panel.of;
        if (std::isnan(estimate.low)) continue;
        panel.low = std::min(panel.low, estimate.low);
        panel.high = std::max(panel.high, estimate.high);
    }
    const double room = std::max(0.05, 0.08 * (panel.high - panel.low));
    panel.low -= room;
    panel.high += room;
}

std::string colour(const Damage& damage)
{
    if (damage.card.starts_with("memory.")) return "#2563a8";
    if (damage.card.starts_with("cache.")) return "#c2571a";
    return "#606060";
}

// Horizontal positions: the traffic; levels without traffic are placed side by side left of zero, so that they do not
// overlap.
std::vector<double> traffic_places(const std::vector<Damage>& damages, double most_gb_per_s)
{
    std::vector<double> places;
    double left = 0.0;
    for (const Damage& damage : damages) {
        if (damage.own_bytes_per_s <= 0.0) left -= 0.03 * most_gb_per_s;
        places.push_back(damage.own_bytes_per_s > 0.0 ? damage.own_bytes_per_s * 1e-9 : left);
    }
    return places;
}

void write_panel(const std::filesystem::path& folder, const Panel& panel, const std::vector<Damage>& damages,
                 const std::vector<double>& gb_per_s)
{
    base::CsvWriter data{folder / (panel.name + ".csv"), {"gb_per_s", "value", "low", "high", "colour"}};
    for (std::size_t i = 0; i < damages.size(); ++i) {
        const Estimate& estimate = damages[i].*panel.of;
        data.row(gb_per_s[i], estimate.value, estimate.low, estimate.high, "0x" + colour(damages[i]).substr(1));
    }
}

// Labels form a column at the right, each with a line to its point, so that they do not overlap.
void set_panels(base::GnuplotVariables& variables, const std::vector<Panel>& panels, const std::vector<Damage>& damages)
{
    std::vector<std::string> files;
    std::vector<std::string> titles;
    std::vector<double> low;
    std::vector<double> high;
    std::vector<double> values;
    std::vector<double> places;
    for (const Panel& panel : panels) {
        files.push_back(panel.name + ".csv");
        titles.push_back(panel.title);
        low.push_back(panel.low);
        high.push_back(panel.high);
        std::vector<double> wanted;
        for (const Damage& damage : damages) {
            values.push_back((damage.*panel.of).value);
            wanted.push_back(panel.place(values.back()));
        }
        const std::vector<double> spread_out = spread(wanted, label_gap);
        places.insert(places.end(), spread_out.begin(), spread_out.end());
    }
    variables.set("panels", panels.size());
    variables.set("files", files);
    variables.set("titles", titles);
    variables.set("low", low);
    variables.set("high", high);
    variables.set("values", values);
    variables.set("places", places);
}

// Distance of tics: 1, 2 or 5 times a power of ten, so that five to ten fit into `whole`.
double tic_step(double whole)
{
    const double unit = std::pow(10.0, std::floor(std::log10(whole)) - 1.0);
    for (const double times : {1.0, 2.0, 5.0})
        if (whole <= 10.0 * times * unit) return times * unit;
    return 10.0 * unit;
}

}  // namespace

void write_probe_csv(const std::filesystem::path& folder, const DamageReport& report)
{
    base::CsvWriter csv{folder / "probe.csv",
                        {"stressor", "level", "blocks", "own_bytes_per_s", "own_operations_per_s", "bandwidth_kept",
                         "bandwidth_low", "bandwidth_high", "latency_factor", "latency_low", "latency_high",
                         "cache_latency_factor", "cache_latency_low", "cache_latency_high"}};
    for (const Damage& damage : report.damages) {
        std::vector<std::string> cells{damage.stressor, damage.level, std::to_string(damage.bandwidth_kept.blocks),
                                       base::join(damage.own_bytes_per_s), base::join(damage.own_operations_per_s)};
        for (const Estimate* estimate : {&damage.bandwidth_kept, &damage.latency_factor, &damage.cache_latency_factor})
            for (const double number : {estimate->value, estimate->low, estimate->high})
                cells.push_back(base::join(number));
        csv.write(cells);
    }
}

void write_probe_json(const std::filesystem::path& folder, nlohmann::ordered_json record, const DamageReport& report)
{
    record["victim_alone"] = {{"bytes_per_s", report.alone.bytes_per_s},
                              {"load_ns", report.alone.load_ns},
                              {"cached_load_ns", report.alone.cached_load_ns}};
    record["slices"] = report.slices;
    record["slices_disturbed"] = report.disturbed;
    record["noise_waited_for_cpu"] = report.noise_waited;
    record["remarks"] = remarks(report);
    record["damage"] = nlohmann::ordered_json::array();
    for (const Damage& damage : report.damages)
        record["damage"].push_back({{"stressor", damage.stressor},
                                    {"level", damage.level},
                                    {"card", damage.card},
                                    {"own_bytes_per_s", damage.own_bytes_per_s},
                                    {"own_operations_per_s", damage.own_operations_per_s},
                                    {"bandwidth_kept", to_json(damage.bandwidth_kept)},
                                    {"latency_factor", to_json(damage.latency_factor)},
                                    {"cache_latency_factor", to_json(damage.cache_latency_factor)}});
    base::write_whole(folder / "probe.json", base::json_text(record) + "\n");
}

bool draw_probe(const std::filesystem::path& folder, const DamageReport& report)
{
    std::vector<Damage> shown;  // damages with finite values; gnuplot cannot place others
    double most_gb_per_s = 0.0;
    for (const Damage& damage : report.damages) {
        if (std::isnan(damage.bandwidth_kept.low + damage.latency_factor.low + damage.cache_latency_factor.low))
            continue;
        shown.push_back(damage);
        most_gb_per_s = std::max(most_gb_per_s, damage.own_bytes_per_s * 1e-9);
    }
    if (shown.empty()) return false;  // remarks() explains why
    if (most_gb_per_s == 0.0) most_gb_per_s = 1.0;
    std::vector<Panel> panels{
        {.name = "probe_bandwidth",
         .title = "the victim's bandwidth, relative to quiet",
         .of = &Damage::bandwidth_kept},
        {.name = "probe_latency", .title = "its latency from memory, relative to quiet", .of = &Damage::latency_factor},
        {.name = "probe_cache",
         .title = "its latency from the cache, relative to quiet",
         .of = &Damage::cache_latency_factor}};
    const std::vector<double> gb_per_s = traffic_places(shown, most_gb_per_s);
    for (Panel& panel : panels) {
        fit(panel, shown);
        write_panel(folder, panel, shown, gb_per_s);
    }
    std::vector<std::string> names;
    std::vector<std::string> colours;
    for (const Damage& damage : shown) {
        names.push_back(damage.name());
        colours.push_back(colour(damage));
    }
    base::GnuplotVariables variables;
    variables.set("noises", shown.size());
    variables.set("names", names);
    variables.set("colours", colours);
    variables.set("gb_per_s", gb_per_s);
    variables.set("least", std::min(0.0, *std::ranges::min_element(gb_per_s)));
    variables.set("most", most_gb_per_s);
    variables.set("xtick", tic_step(most_gb_per_s));
    set_panels(variables, panels, shown);
    return base::draw("noisegen", folder, "probe", variables, probe_gp);
}

std::vector<double> spread(const std::vector<double>& wanted, double gap)
{
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
    std::vector<double> places(wanted.size());
    double least = 0.0;
    for (const std::size_t i : order) {
        places[i] = std::max(wanted[i], least);
        least = places[i] + gap;
    }
    double most = 1.0;
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
        places[*i] = std::min(places[*i], most);
        most = places[*i] - gap;
    }
    return places;
}

}  // namespace noisegen
