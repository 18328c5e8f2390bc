// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/archive.hpp"

#include "base/contract/trace_names.hpp"
#include "base/words.hpp"

namespace otf2 {

namespace {

bool same_but_for_case(const std::string& one, const std::string& other)
{
    return base::lower_case(one) == base::lower_case(other);
}

std::optional<std::string> look_up(const Properties& properties, const std::string& name)
{
    for (const auto& [known, value] : properties)
        if (same_but_for_case(known, name)) return value;
    return {};
}

template <class Named>
std::optional<std::uint32_t> find(const std::vector<Named>& rows, const std::string& name)
{
    for (std::uint32_t i = 0; i < rows.size(); ++i)
        if (rows[i].name == name) return i;
    return {};
}

}  // namespace

std::optional<std::string> Archive::property(const std::string& name) const
{
    return look_up(properties, name);
}

std::optional<std::string> Archive::property(const Location& location, const std::string& name) const
{
    if (location.process == nowhere) return {};
    const Process& process = processes[location.process];
    std::optional<std::string> value = look_up(process.properties, name);
    std::uint32_t node = process.node;
    // At most as many steps as there are nodes: parents in a damaged archive may form a cycle.
    for (std::size_t step = 0; !value && node != nowhere && step < nodes.size(); ++step) {
        value = look_up(nodes[node].properties, name);
        node = nodes[node].parent;
    }
    return value;
}

std::string Archive::clock_identity(const Location& location) const
{
    return property(location, base::property::clock_identity).value_or("");
}

std::optional<std::uint32_t> Archive::find_region(const std::string& name) const
{
    return find(regions, name);
}

std::optional<std::uint32_t> Archive::find_attribute(const std::string& name) const
{
    return find(attributes, name);
}

std::optional<std::uint32_t> Archive::find_metric(const std::string& name) const
{
    return find(metrics, name);
}

}  // namespace otf2
