#include "noisegen/measure/probe_files.hpp"

#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/system/gnuplot.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace noisegen {

namespace {

nlohmann::ordered_json to_json(const Estimate& estimate)
{
    return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}, {"blocks", estimate.blocks}};
}

// One of the plots, below each other.
struct Panel {
    std::string name;  // of its data file
    std::string title;
    Estimate Damage::*of;
    double low = 0.0;  // of the axis
    double high = 1.0;
    double place(double value) const { return (value - low) / (high - low); }
};

constexpr int panel_height = 300;
constexpr int panel_top = 30;   // for the title
constexpr int panel_room = 90;  // for title and axis
constexpr double plot_left = 70.0;
constexpr double plot_right = 620.0;
constexpr double label_gap = 15.0 / (panel_height - panel_room);

// Where the axis must reach so that all intervals and 1 are seen.
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

// Where each stands: by its traffic; those that move no bytes side by side left of zero, for none to cover another.
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

// Labels stand in a column at the right, each with a line to its point, so that none covers another.
void write_labels(std::ostream& gp, const Panel& panel, const std::vector<Damage>& damages,
                  const std::vector<double>& gb_per_s)
{
    std::vector<double> wanted;
    for (const Damage& damage : damages) wanted.push_back(panel.place((damage.*panel.of).value));
    const std::vector<double> places = spread(wanted, label_gap);
    for (std::size_t i = 0; i < damages.size(); ++i) {
        gp << "set arrow " << i + 1 << " from " << gb_per_s[i] << "," << (damages[i].*panel.of).value
           << " to graph 1.02," << places[i] << " nohead lw 0.5 lc rgb '#b0b0b0' back\n"
           << "set label " << i + 1 << " " << base::gnuplot_text(damages[i].name()) << " at graph 1.03," << places[i]
           << " left tc rgb '" << colour(damages[i]) << "'\n";
    }
}

void write_panel(std::ostream& gp, const std::filesystem::path& folder, const Panel& panel, int number, int panels,
                 double most_gb_per_s, const std::vector<Damage>& damages)
{
    base::CsvWriter data{folder / (panel.name + ".csv"), {"gb_per_s", "value", "low", "high", "colour"}};
    const std::vector<double> gb_per_s = traffic_places(damages, most_gb_per_s);
    for (std::size_t i = 0; i < damages.size(); ++i) {
        const Estimate& estimate = damages[i].*panel.of;
        data.row(gb_per_s[i], estimate.value, estimate.low, estimate.high, "0x" + colour(damages[i]).substr(1));
    }
    const double height = static_cast<double>(panels * panel_height);
    const double top = static_cast<double>(number * panel_height + panel_top);
    const double bottom = static_cast<double>((number + 1) * panel_height + panel_top - panel_room);
    gp << "unset arrow\nunset label\nset tmargin at screen " << 1.0 - top / height << "\nset bmargin at screen "
       << 1.0 - bottom / height << "\nset title " << base::gnuplot_text(panel.title) << " offset 0,-0.6\n"
       << "set xrange [" << std::min(0.0, *std::min_element(gb_per_s.begin(), gb_per_s.end())) - 0.02 * most_gb_per_s
       << ":" << 1.03 * most_gb_per_s << "]\nset yrange [" << panel.low << ":" << panel.high << "]\nset arrow "
       << damages.size() + 1 << " from graph 0,first 1 to graph 1,first 1 "
       << "nohead lw 0.7 dt 2 lc rgb '#909090' back\n";
    if (number == panels - 1) gp << "set xlabel 'traffic of the noise itself, GB/s; left of 0: none' offset 0,0.4\n";
    write_labels(gp, panel, damages, gb_per_s);
    gp << "plot '" << panel.name << ".csv' skip 1 using 1:2:3:4:5 with yerrorbars pt 7 ps 0.6 lw 1.2 lc rgb variable\n";
}

// 1, 2 or 5 times a power of ten; five to ten of it make up the whole.
double tic_step(double whole)
{
    const double unit = std::pow(10.0, std::floor(std::log10(whole)) - 1.0);
    for (const double times : {1.0, 2.0, 5.0})
        if (whole <= 10.0 * times * unit) return times * unit;
    return 10.0 * unit;
}

std::size_t longest_name(const std::vector<Damage>& damages)
{
    std::size_t longest = 0;
    for (const Damage& damage : damages) longest = std::max(longest, damage.name().size());
    return longest;
}

std::string number_text(double number)
{
    std::ostringstream text;
    text.precision(6);
    text << number;
    return text.str();
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
                                       number_text(damage.own_bytes_per_s), number_text(damage.own_operations_per_s)};
        for (const Estimate* estimate : {&damage.bandwidth_kept, &damage.latency_factor, &damage.cache_latency_factor})
            for (const double number : {estimate->value, estimate->low, estimate->high})
                cells.push_back(number_text(number));
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
    base::write_whole(folder / "probe.json", record.dump(2) + "\n");
}

bool draw_probe(const std::filesystem::path& folder, const DamageReport& report)
{
    std::vector<Damage> shown;  // gnuplot has no place for the others
    double most_gb_per_s = 0.0;
    for (const Damage& damage : report.damages) {
        if (std::isnan(damage.bandwidth_kept.low + damage.latency_factor.low + damage.cache_latency_factor.low))
            continue;
        shown.push_back(damage);
        most_gb_per_s = std::max(most_gb_per_s, damage.own_bytes_per_s * 1e-9);
    }
    if (shown.empty()) return false;  // the remarks tell why
    if (most_gb_per_s == 0.0) most_gb_per_s = 1.0;
    const double width = plot_right + 40.0 + 8.0 * static_cast<double>(longest_name(shown));
    std::vector<Panel> panels{
        {.name = "probe_bandwidth", .title = "bandwidth that the victim keeps", .of = &Damage::bandwidth_kept},
        {.name = "probe_latency", .title = "its latency from memory, times quiet", .of = &Damage::latency_factor},
        {.name = "probe_cache",
         .title = "its latency from the cache, times quiet",
         .of = &Damage::cache_latency_factor}};
    std::ostringstream gp;
    gp << "# Damage to a victim against the noise's own traffic. Made by noisegen probe; run again with: gnuplot "
          "probe.gp\n"
       << "set terminal svg noenhanced size " << width << "," << panel_height * static_cast<int>(panels.size())
       << " dynamic font 'sans-serif,12' background '#ffffff'\nset output 'probe.svg'\nset datafile separator ','\n"
       << "set encoding utf8\nset border 3 lw 0.7\nset tics nomirror out scale 0.5\nset xtics 0,"
       << tic_step(most_gb_per_s) << "\nset key off\nset multiplot\n"
       << "set lmargin at screen " << plot_left / width << "\nset rmargin at screen " << plot_right / width << "\n";
    for (std::size_t i = 0; i < panels.size(); ++i) {
        fit(panels[i], shown);
        write_panel(gp, folder, panels[i], static_cast<int>(i), static_cast<int>(panels.size()), most_gb_per_s, shown);
    }
    gp << "unset multiplot\n";
    base::write_whole(folder / "probe.gp", gp.str());
    return base::run_gnuplot("noisegen", folder, "probe");
}

std::vector<double> spread(const std::vector<double>& wanted, double gap)
{
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
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
