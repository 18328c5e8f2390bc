// trace-info: what is in an OTF2 archive, and is it sound?
#include "base/error.hpp"
#include "base/options.hpp"
#include "trace-tools/otf2/reader.hpp"
#include "trace-tools/patterns/profile.hpp"

#include <algorithm>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <numeric>

namespace {

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

// C++ names can be longer than a screen is wide.
std::string shortened(const std::string& name)
{
    constexpr std::size_t widest = 60;
    return name.size() <= widest ? name : name.substr(0, widest - 3) + "...";
}

// Columns as wide as their widest cell; all but the first to the right.
void print_table(const std::vector<std::vector<std::string>>& rows)
{
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    for (const auto& row : rows) {
        std::cout << "  " << std::left << std::setw(static_cast<int>(widths[0])) << row[0] << std::right;
        for (std::size_t i = 1; i < row.size(); ++i)
            std::cout << "  " << std::setw(static_cast<int>(widths[i])) << row[i];
        std::cout << "\n";
    }
}

void print_header(const otf2::Archive& archive)
{
    std::cout << "written by    " << (archive.writer.empty() ? "(not told)" : archive.writer) << ", OTF2 "
              << archive.otf2_version << "\n";
    if (!archive.machine.empty()) std::cout << "machine       " << archive.machine << "\n";
    if (!archive.description.empty()) std::cout << "description   " << archive.description << "\n";
    std::cout << "clock         ";
    if (archive.clock.stated)
        std::cout << archive.clock.ticks_per_s << " ticks/s, begins at " << archive.clock.begin_ns << " ns, "
                  << in_ms(archive.clock.length_ns) << " ms long\n";
    else
        std::cout << "(not told)\n";
    if (archive.clock.realtime_ns) std::cout << "recorded      " << date(*archive.clock.realtime_ns) << "\n";
    for (const auto& [name, value] : archive.properties)
        std::cout << "property      " << name << " = " << value << "\n";
}

void print_nodes(const otf2::Archive& archive)
{
    if (archive.nodes.empty()) return;
    std::cout << "\nNodes\n";
    for (const otf2::Node& node : archive.nodes) {
        std::cout << "  " << node.class_name << " " << node.name << "\n";
        for (const auto& [name, value] : node.properties) std::cout << "    " << name << " = " << value << "\n";
    }
}

std::string clock_offsets(const otf2::Location& location)
{
    if (location.clock_offsets.empty()) return "-";
    const auto [least, most] =
        std::minmax_element(location.clock_offsets.begin(), location.clock_offsets.end(),
                            [](const auto& one, const auto& other) { return one.offset_ns < other.offset_ns; });
    return least->offset_ns == most->offset_ns ? std::to_string(least->offset_ns)
                                               : base::join(least->offset_ns, " to ", most->offset_ns);
}

void print_locations(const otf2::Archive& archive, const otf2::Profile& profile)
{
    std::cout << "\nLocations\n";
    std::vector<std::vector<std::string>> rows{
        {"process / location", "kind", "events", "first ms", "last ms", "clock offset ns"}};
    for (std::size_t i = 0; i < archive.locations.size(); ++i) {
        const otf2::Location& location = archive.locations[i];
        const otf2::LocationProfile& found = profile.locations()[i];
        const std::string process =
            location.process == otf2::nowhere ? "(none)" : archive.processes[location.process].name;
        const bool some = found.events > 0;
        rows.push_back({process + " / " + location.name, otf2::text(location.kind), std::to_string(found.events),
                        some ? in_ms(found.first_ns - archive.clock.begin_ns) : "-",
                        some ? in_ms(found.last_ns - archive.clock.begin_ns) : "-", clock_offsets(location)});
    }
    print_table(rows);
}

void print_regions(const otf2::Archive& archive, const otf2::Profile& profile)
{
    std::vector<std::size_t> order(archive.regions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t i) { return profile.regions()[i].visits == 0; });
    std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
        return profile.regions()[one].exclusive_ns.sum > profile.regions()[other].exclusive_ns.sum;
    });
    std::cout << "\nRegions (" << order.size() << " visited of " << archive.regions.size()
              << " defined; times in ms)\n";
    if (order.empty()) return;
    std::vector<std::vector<std::string>> rows{
        {"region", "paradigm", "visits", "inclusive", "least", "most", "exclusive", "least", "most"}};
    for (const std::size_t i : order) {
        const otf2::RegionProfile& region = profile.regions()[i];
        rows.push_back({shortened(archive.regions[i].name), otf2::text(archive.regions[i].paradigm),
                        std::to_string(region.visits), in_ms(region.inclusive_ns.sum), in_ms(region.inclusive_ns.least),
                        in_ms(region.inclusive_ns.most), in_ms(region.exclusive_ns.sum),
                        in_ms(region.exclusive_ns.least), in_ms(region.exclusive_ns.most)});
    }
    print_table(rows);
}

void print_metrics(const otf2::Archive& archive, const otf2::Profile& profile)
{
    if (archive.metrics.empty()) return;
    std::cout << "\nMetrics\n";
    std::vector<std::vector<std::string>> rows{{"metric", "unit", "values", "least", "mean", "most"}};
    for (std::size_t i = 0; i < archive.metrics.size(); ++i) {
        const otf2::MetricProfile& metric = profile.metrics()[i];
        const double scale = archive.metrics[i].scale;
        const bool some = metric.values > 0;
        rows.push_back({archive.metrics[i].name, archive.metrics[i].unit, std::to_string(metric.values),
                        some ? base::join(metric.least * scale) : "-",
                        some ? base::join(metric.sum * scale / static_cast<double>(metric.values)) : "-",
                        some ? base::join(metric.most * scale) : "-"});
    }
    print_table(rows);
}

void print_communicators(const otf2::Archive& archive, const otf2::Profile& profile)
{
    if (archive.communicators.empty()) return;
    std::cout << "\nCommunicators\n";
    for (std::size_t i = 0; i < archive.communicators.size(); ++i) {
        const otf2::CommunicatorProfile& traffic = profile.communicators()[i];
        std::cout << "  " << (archive.communicators[i].name.empty() ? "(unnamed)" : archive.communicators[i].name)
                  << ": " << archive.communicators[i].members.size() << " ranks";
        if (traffic.messages > 0)
            std::cout << "; " << traffic.messages << " messages, " << traffic.message_bytes << " bytes";
        for (const auto& [operation, count] : traffic.collectives)
            std::cout << "; " << count << " " << otf2::text(operation);
        std::cout << "\n";
    }
}

void print_problems(const std::vector<std::vector<std::string>>& lists)
{
    std::cout << "\nProblems\n";
    bool any = false;
    for (const auto& list : lists)
        for (const std::string& problem : list) {
            std::cout << "  " << problem << "\n";
            any = true;
        }
    if (!any) std::cout << "  none found\n";
}

}  // namespace

int main(int argc, char** argv)
try {
    std::vector<std::string> anchors;
    base::Options options{"trace-info", "what is in an OTF2 archive, and is it sound?"};
    options.add_positional("X.otf2", anchors, "the archive's anchor file");
    options.example("trace-info train/trace/traces.otf2");
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (anchors.size() != 1) base::fail_usage("one archive at a time");

    otf2::Reader reader{anchors.front()};
    otf2::Profile profile{reader.archive()};
    reader.read_by_location(profile);
    profile.finish();

    print_header(reader.archive());
    print_nodes(reader.archive());
    print_locations(reader.archive(), profile);
    print_regions(reader.archive(), profile);
    print_metrics(reader.archive(), profile);
    print_communicators(reader.archive(), profile);
    print_problems({reader.archive().problems, reader.problems(), profile.problems()});
    return base::exit_fine;
} catch (...) {
    return base::report_failure("trace-info");
}
