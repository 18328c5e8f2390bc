// SPDX-License-Identifier: Apache-2.0
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/saturating.hpp"
#include "base/words.hpp"
#include "trace-tools/profile/summary.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iomanip>
#include <numeric>
#include <sstream>

namespace otf2 {

namespace {

std::string shown(const std::string& name)
{
    return base::printable(name);
}

std::string in_ms(std::int64_t ns)
{
    std::ostringstream out;
    out << std::fixed << std::setprecision(3) << static_cast<double>(ns) / 1e6;
    return out.str();
}

std::string date(std::int64_t realtime_ns)
{
    const std::time_t seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return base::join(std::put_time(&parts, "%Y-%m-%d %H:%M:%S UTC"));
}

// Shortens names, since C++ names can be wider than a screen.
std::string shortened(const std::string& name)
{
    constexpr std::size_t widest = 60;
    return shown(name.size() <= widest ? name : name.substr(0, widest - 3) + "...");
}

// Columns are as wide as their widest cell; all but the first are right-aligned.
void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows)
{
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    for (const auto& row : rows) {
        out << "  " << std::left << std::setw(static_cast<int>(widths[0])) << row[0] << std::right;
        for (std::size_t i = 1; i < row.size(); ++i) out << "  " << std::setw(static_cast<int>(widths[i])) << row[i];
        out << "\n";
    }
}

// Times of the first and the last event of all locations.
std::pair<std::int64_t, std::int64_t> extent(const Profile& profile)
{
    std::pair<std::int64_t, std::int64_t> all{INT64_MAX, INT64_MIN};
    for (const LocationProfile& location : profile.locations())
        if (location.events > 0) all = {std::min(all.first, location.first_ns), std::max(all.second, location.last_ns)};
    return all;
}

void print_header(std::ostream& out, const Archive& archive, const Profile& profile)
{
    out << "written by    " << (archive.writer.empty() ? "(not stated)" : shown(archive.writer)) << ", OTF2 "
        << archive.otf2_version << "\n";
    if (!archive.machine.empty()) out << "machine       " << shown(archive.machine) << "\n";
    if (!archive.description.empty()) out << "description   " << shown(archive.description) << "\n";
    out << "clock         ";
    if (archive.clock.stated)
        out << archive.clock.ticks_per_s << " ticks/s, begins at " << archive.clock.begin_ns << " ns, "
            << in_ms(archive.clock.length_ns) << " ms long\n";
    else
        out << "(not stated)\n";
    const auto [first_ns, last_ns] = extent(profile);
    if (first_ns <= last_ns && last_ns - first_ns < archive.clock.length_ns / 2)  // lo2s: the stated clock begins at 0
        out << "events        " << in_ms(last_ns - first_ns) << " ms from the first to the last\n";
    if (archive.clock.realtime_ns) out << "recorded      " << date(*archive.clock.realtime_ns) << "\n";
    for (const auto& [name, value] : archive.properties)
        out << "property      " << shown(name) << " = " << shown(value) << "\n";
}

void print_nodes(std::ostream& out, const Archive& archive)
{
    if (archive.nodes.empty()) return;
    out << "\nNodes\n";
    for (const Node& node : archive.nodes) {
        out << "  " << shown(node.class_name) << " " << shown(node.name) << "\n";
        for (const auto& [name, value] : node.properties) out << "    " << shown(name) << " = " << shown(value) << "\n";
    }
}

std::string text_of_offsets(const Location& location)
{
    if (location.clock_offsets.empty()) return "-";
    const auto [least, most] =
        std::minmax_element(location.clock_offsets.begin(), location.clock_offsets.end(),
                            [](const auto& one, const auto& other) { return one.offset_ns < other.offset_ns; });
    return least->offset_ns == most->offset_ns ? std::to_string(least->offset_ns)
                                               : base::join(least->offset_ns, " to ", most->offset_ns);
}

void print_locations(std::ostream& out, const Archive& archive, const Profile& profile)
{
    out << "\nLocations\n";
    std::vector<std::vector<std::string>> rows{
        {"process / location", "kind", "events", "first ms", "last ms", "clock offset ns"}};
    const std::vector<LocationProfile> all = profile.locations();
    for (std::size_t i = 0; i < archive.locations.size(); ++i) {
        const Location& location = archive.locations[i];
        const LocationProfile& found = all[i];
        const std::string process = location.process == nowhere ? "(none)" : archive.processes[location.process].name;
        const bool some = found.events > 0;
        rows.push_back({shown(process + " / " + location.name), text(location.kind), std::to_string(found.events),
                        some ? in_ms(base::saturated_difference(found.first_ns, archive.clock.begin_ns)) : "-",
                        some ? in_ms(base::saturated_difference(found.last_ns, archive.clock.begin_ns)) : "-",
                        text_of_offsets(location)});
    }
    print_table(out, rows);
}

std::string percent_of(std::int64_t part_ns, std::int64_t whole_ns)
{
    if (whole_ns <= 0) return "-";
    return base::fixed(100.0 * static_cast<double>(part_ns) / static_cast<double>(whole_ns), 2);
}

// Properties written by the GPU recording: number of missing activities, and the uncertainty of the clocks.
void print_gpu_properties(std::ostream& out, const Archive& archive)
{
    const std::string prefix = base::join(base::property::prefix, "gpu_");
    for (const Process& process : archive.processes) {
        std::string words;
        for (const auto& [name, value] : process.properties)
            if (name.starts_with(prefix)) words += base::join("; ", name.substr(prefix.size()), " ", shown(value));
        if (!words.empty()) out << "  " << shown(process.name) << words << "\n";
    }
}

void print_devices(std::ostream& out, const Summary& summary)
{
    if (summary.devices.empty()) return;
    std::vector<std::vector<std::string>> rows{
        {"GPU", "rank", "streams", "kernels", "computing ms", "%", "exchange ms", "copies ms"}};
    for (const DeviceProfile& device : summary.devices)
        rows.push_back({shown(device.name),
                        device.user == nowhere ? "-" : shown(summary.archive.processes[device.user].name),
                        std::to_string(device.streams.size()), std::to_string(device.kernels), in_ms(device.busy_ns),
                        percent_of(device.busy_ns, device.wall_ns), in_ms(device.exchange_ns), in_ms(device.copy_ns)});
    out << "\nGPUs\n";
    print_table(out, rows);
}

// Streams are recognised by their location kind, whether CUDA, HIP or any other accelerator.
void print_gpus(std::ostream& out, const Archive& archive, const Profile& profile)
{
    std::vector<std::vector<std::string>> rows{{"process or device / stream", "rank", "regions", "busy ms", "busy %"}};
    for (std::size_t i = 0; i < archive.locations.size(); ++i) {
        const Location& location = archive.locations[i];
        if (location.kind != LocationKind::accelerator_stream) continue;
        const OutermostProfile& busy = profile.outermost()[i];
        const Process* const process = location.process == nowhere ? nullptr : &archive.processes[location.process];
        const std::uint32_t user =
            process == nullptr || process->creator == nowhere ? location.process : process->creator;
        rows.push_back({shown((process == nullptr ? "(none)" : process->name) + " / " + location.name),
                        user == nowhere ? "-" : shown(archive.processes[user].name), std::to_string(busy.visits),
                        in_ms(busy.ns), percent_of(busy.ns, archive.clock.length_ns)});
    }
    if (rows.size() == 1) return;
    out << "\nGPU streams\n";
    print_table(out, rows);
    print_gpu_properties(out, archive);
}

void print_regions(std::ostream& out, const Archive& archive, const Profile& profile)
{
    std::vector<std::size_t> order(archive.regions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t i) { return profile.regions()[i].visits == 0; });
    std::ranges::stable_sort(order, [&](std::size_t one, std::size_t other) {
        return profile.regions()[one].exclusive_ns.sum > profile.regions()[other].exclusive_ns.sum;
    });
    out << "\nRegions (" << order.size() << " visited of " << archive.regions.size() << " defined; times in ms)\n";
    if (order.empty()) return;
    std::vector<std::vector<std::string>> rows{
        {"region", "paradigm", "visits", "inclusive", "least", "most", "exclusive", "least", "most"}};
    for (const std::size_t i : order) {
        const RegionProfile& region = profile.regions()[i];
        rows.push_back({shortened(archive.regions[i].name), text(archive.regions[i].paradigm),
                        std::to_string(region.visits), in_ms(region.inclusive_ns.sum), in_ms(region.inclusive_ns.least),
                        in_ms(region.inclusive_ns.most), in_ms(region.exclusive_ns.sum),
                        in_ms(region.exclusive_ns.least), in_ms(region.exclusive_ns.most)});
    }
    print_table(out, rows);
}

void print_metrics(std::ostream& out, const Archive& archive, const Profile& profile)
{
    if (archive.metrics.empty()) return;
    out << "\nMetrics\n";
    std::vector<std::vector<std::string>> rows{
        {"metric", "unit", "values", "least", "mean", "most", "growth", "growth/s"}};
    for (std::size_t i = 0; i < archive.metrics.size(); ++i) {
        const MetricProfile& metric = profile.metrics()[i];
        const double scale = archive.metrics[i].scale;
        const bool accumulates = archive.metrics[i].mode == MetricMode::accumulated_start;
        const auto cell = [&](bool meant, double value) {
            return metric.values > 0 && meant && std::isfinite(value) ? base::join(value * scale) : "-";
        };
        rows.push_back({shown(archive.metrics[i].name), shown(archive.metrics[i].unit), std::to_string(metric.values),
                        cell(!accumulates, metric.least),
                        cell(!accumulates, metric.sum / static_cast<double>(metric.values)),
                        cell(!accumulates, metric.most), cell(accumulates, metric.growth),
                        cell(accumulates, metric.growth_per_s())});
    }
    print_table(out, rows);
}

void print_communicators(std::ostream& out, const Archive& archive, const Profile& profile)
{
    if (archive.communicators.empty()) return;
    out << "\nCommunicators\n";
    for (std::size_t i = 0; i < archive.communicators.size(); ++i) {
        const CommunicatorProfile& traffic = profile.communicators()[i];
        out << "  " << (archive.communicators[i].name.empty() ? "(unnamed)" : shown(archive.communicators[i].name))
            << ": " << archive.communicators[i].members.size()
            << (archive.communicators[i].members.size() == 1 ? " rank" : " ranks");
        if (traffic.messages > 0) out << "; " << traffic.messages << " messages, " << traffic.message_bytes << " bytes";
        for (const auto& [operation, count] : traffic.collectives) out << "; " << count << " " << text(operation);
        out << "\n";
    }
}

void print_list(std::ostream& out, const char* title, const std::vector<std::string>& lines)
{
    out << "\n" << title << "\n";
    for (const std::string& line : lines) out << "  " << shown(line) << "\n";
    if (lines.empty()) out << "  none found\n";
}

}  // namespace

Summary summary(const Reader& reader, const Profile& profile)
{
    return {.archive = reader.archive(),
            .profile = profile,
            .problems = problems_of(reader, profile.soundness()),
            .oddities = oddities_of(reader, profile.soundness())};
}

void write_text(std::ostream& out, const Summary& summary)
{
    print_header(out, summary.archive, summary.profile);
    print_nodes(out, summary.archive);
    print_locations(out, summary.archive, summary.profile);
    print_devices(out, summary);
    print_gpus(out, summary.archive, summary.profile);
    print_regions(out, summary.archive, summary.profile);
    print_metrics(out, summary.archive, summary.profile);
    print_communicators(out, summary.archive, summary.profile);
    if (!summary.oddities.empty()) print_list(out, "Oddities", summary.oddities);
    print_list(out, "Problems", summary.problems);
}

void write_check(std::ostream& out, const Summary& summary)
{
    for (const std::string& problem : summary.problems) out << "problem: " << shown(problem) << "\n";
    for (const std::string& oddity : summary.oddities) out << "odd: " << shown(oddity) << "\n";
    out << (summary.sound() ? "sound" : "not sound") << "\n";
}

}  // namespace otf2
