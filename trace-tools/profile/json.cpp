// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include "trace-tools/profile/summary.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace otf2 {

namespace {

using Json = nlohmann::ordered_json;

Json index(std::uint32_t number)
{
    return number == nowhere ? Json{} : Json(number);
}

Json number(double value)
{
    return std::isfinite(value) ? Json(value) : Json{};
}

Json clock(const Clock& clock)
{
    if (!clock.stated) return {};
    return {{"ticks_per_s", clock.ticks_per_s},
            {"begin_ns", clock.begin_ns},
            {"length_ns", clock.length_ns},
            {"realtime_ns", clock.realtime_ns ? Json(*clock.realtime_ns) : Json{}}};
}

Json nodes(const Archive& archive)
{
    Json all = Json::array();
    for (const Node& node : archive.nodes)
        all.push_back({{"name", node.name},
                       {"class", node.class_name},
                       {"parent", index(node.parent)},
                       {"properties", node.properties}});
    return all;
}

Json processes(const Archive& archive)
{
    Json all = Json::array();
    for (const Process& process : archive.processes)
        all.push_back({{"name", process.name},
                       {"accelerator", process.accelerator},
                       {"node", index(process.node)},
                       {"properties", process.properties},
                       {"creator", index(process.creator)}});
    return all;
}

Json clock_offsets(const Location& location)
{
    Json all = Json::array();
    for (const ClockOffset& offset : location.clock_offsets)
        all.push_back({{"at_ns", offset.at_ns}, {"offset_ns", offset.offset_ns}, {"error_ns", offset.error_ns}});
    return all;
}

Json locations(const Archive& archive, const Profile& profile)
{
    Json all = Json::array();
    const std::vector<LocationProfile> counted = profile.locations();
    for (std::size_t i = 0; i < archive.locations.size(); ++i) {
        const Location& location = archive.locations[i];
        const LocationProfile& found = counted[i];
        const bool some = found.events > 0;
        all.push_back({{"id", location.id},
                       {"name", location.name},
                       {"kind", text(location.kind)},
                       {"process", index(location.process)},
                       {"events", found.events},
                       {"events_defined", location.events},
                       {"first_ns", some ? Json(found.first_ns) : Json{}},
                       {"last_ns", some ? Json(found.last_ns) : Json{}},
                       {"clock_offsets", clock_offsets(location)},
                       {"busy_ns", profile.outermost()[i].ns}});
    }
    return all;
}

Json spread(const Spread& spread)
{
    return {{"sum", spread.sum}, {"least", spread.least}, {"most", spread.most}};
}

Json regions(const Archive& archive, const Profile& profile)
{
    Json all = Json::array();
    for (std::size_t i = 0; i < archive.regions.size(); ++i) {
        const RegionProfile& found = profile.regions()[i];
        const bool some = found.visits > 0;
        all.push_back({{"name", archive.regions[i].name},
                       {"role", text(archive.regions[i].role)},
                       {"paradigm", text(archive.regions[i].paradigm)},
                       {"visits", found.visits},
                       {"inclusive_ns", some ? spread(found.inclusive_ns) : Json{}},
                       {"exclusive_ns", some ? spread(found.exclusive_ns) : Json{}}});
    }
    return all;
}

Json metrics(const Archive& archive, const Profile& profile)
{
    Json all = Json::array();
    for (std::size_t i = 0; i < archive.metrics.size(); ++i) {
        const double scale = archive.metrics[i].scale;
        const MetricProfile& found = profile.metrics()[i];
        const bool accumulates = archive.metrics[i].mode == MetricMode::accumulated_start;
        const auto value = [&](bool meant, double one) {
            return found.values > 0 && meant ? number(one * scale) : Json{};
        };
        all.push_back({{"name", archive.metrics[i].name},
                       {"unit", archive.metrics[i].unit},
                       {"values", found.values},
                       {"least", value(!accumulates, found.least)},
                       {"mean", value(!accumulates, found.sum / static_cast<double>(found.values))},
                       {"most", value(!accumulates, found.most)},
                       {"growth", value(accumulates, found.growth)},
                       {"growth_per_s", value(accumulates, found.growth_per_s())}});
    }
    return all;
}

Json communicators(const Archive& archive, const Profile& profile)
{
    Json all = Json::array();
    for (std::size_t i = 0; i < archive.communicators.size(); ++i) {
        const CommunicatorProfile& found = profile.communicators()[i];
        Json collectives = Json::object();
        for (const auto& [operation, count] : found.collectives) collectives[text(operation)] = count;
        all.push_back({{"name", archive.communicators[i].name},
                       {"paradigm", text(archive.communicators[i].paradigm)},
                       {"ranks", archive.communicators[i].members.size()},
                       {"messages", found.messages},
                       {"message_bytes", found.message_bytes},
                       {"collectives", collectives}});
    }
    return all;
}

Json devices(const Summary& summary)
{
    Json all = Json::array();
    for (const DeviceProfile& device : summary.devices)
        all.push_back({{"name", device.name},
                       {"process", index(device.user)},
                       {"streams", device.streams},
                       {"kernels", device.kernels},
                       {"launched", device.launched},
                       {"wall_ns", device.wall_ns},
                       {"busy_ns", device.busy_ns},
                       {"exchange_ns", device.exchange_ns},
                       {"copy_ns", device.copy_ns}});
    return all;
}

}  // namespace

void write_json(std::ostream& out, const Summary& summary)
{
    const Archive& archive = summary.archive;
    const Profile& profile = summary.profile;
    const Json all{{"format", 1},
                   {"sound", summary.sound()},
                   {"problems", summary.problems},
                   {"oddities", summary.oddities},
                   {"writer", archive.writer},
                   {"otf2_version", archive.otf2_version},
                   {"machine", archive.machine},
                   {"description", archive.description},
                   {"clock", clock(archive.clock)},
                   {"properties", archive.properties},
                   {"nodes", nodes(archive)},
                   {"processes", processes(archive)},
                   {"locations", locations(archive, profile)},
                   {"regions", regions(archive, profile)},
                   {"metrics", metrics(archive, profile)},
                   {"communicators", communicators(archive, profile)},
                   {"gpus", devices(summary)}};
    // Invalid UTF-8 in names is replaced by U+FFFD.
    out << base::json_text(all) << "\n";
}

}  // namespace otf2
