// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/merge/merge_input.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"

#include <utility>

namespace merge {

namespace {

std::string shown(const std::string& name)
{
    return name.empty() ? "unknown" : name;
}

}  // namespace

std::uint32_t MergeInput::node_of(const otf2::Location& location) const
{
    return location.process == otf2::nowhere ? otf2::nowhere : archive.processes[location.process].node;
}

std::string MergeInput::host_of(const otf2::Location& location) const
{
    const std::uint32_t node = node_of(location);
    return node == otf2::nowhere ? "" : archive.nodes[node].name;
}

std::uint32_t MergeInput::node_named(const std::string& name, const otf2::Location& location) const
{
    std::uint32_t node = node_of(location);
    for (std::size_t steps = 0; node != otf2::nowhere && steps < archive.nodes.size(); ++steps) {
        if (archive.nodes[node].name == name) return node;
        node = archive.nodes[node].parent;
    }
    return otf2::nowhere;
}

MergeInput read_merge_input(const std::filesystem::path& anchor, std::size_t number)
{
    otf2::Archive archive = otf2::Reader{anchor}.archive();
    const otf2::ReaderHandle reader = otf2::open_archive(anchor);
    MergeInput input{.anchor = anchor,
                     .number = number,
                     .archive = std::move(archive),
                     .files = {anchor, reader.get()},
                     .definitions = read_raw_definitions(reader.get())};
    for (const Row& row : input.definitions.rows) {
        if (row.kind == Kind::node) input.nodes.push_back(row.cells.front());
        if (row.kind == Kind::location_group) input.processes.push_back(row.cells.front());
    }
    return input;
}

otf2::ReaderHandle open_with_all_locations(const MergeInput& input)
{
    otf2::ReaderHandle reader = otf2::open_archive(input.anchor);
    for (const otf2::Location& location : input.archive.locations)
        otf2::check(OTF2_Reader_SelectLocation(reader.get(), location.id), "select location ", location.name);
    return reader;
}

bool is_noise_alone(const otf2::Archive& archive)
{
    return archive.property(base::property::design) && archive.processes.size() == 1;
}

Beside beside(const MergeInput& training, const MergeInput& noise, const otf2::Location& location, bool offset_stated)
{
    const std::string clock = noise.archive.clock_identity(location);
    const std::string host = noise.host_of(location);
    Beside same_clock;
    Beside same_host;
    for (const otf2::Location& other : training.archive.locations) {
        const bool here = host.empty() || training.node_of(other) == otf2::nowhere ||
                          training.node_named(host, other) != otf2::nowhere;
        if (!clock.empty() && training.archive.clock_identity(other) == clock) {
            if (here) return {&other, true};
            if (same_clock.location == nullptr) same_clock = {&other, true};
        }
        if (here && same_host.location == nullptr) same_host = {&other, false};
    }
    if (same_clock.location != nullptr) return same_clock;
    if (offset_stated && same_host.location != nullptr) return same_host;
    if (offset_stated)
        base::fail("no process of the training is on ", shown(host), ", where ", noise.anchor.string(),
                   " was recorded");
    const std::string of_training =
        training.archive.locations.empty() ? "" : training.archive.clock_identity(training.archive.locations.front());
    const bool none_known = of_training.empty() && clock.empty();
    base::fail(none_known ? "the clock of training and noise is unknown"
                          : base::join("training and noise were recorded on two different clocks (", shown(of_training),
                                       " and ", shown(clock), ")"),
               ": give their difference as --clock-offset");
}

}  // namespace merge
