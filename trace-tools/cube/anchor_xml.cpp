// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/cube/anchor_xml.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <array>
#include <pugixml.hpp>
#include <sstream>
#include <unordered_map>

namespace cube {

namespace {

using pugi::xml_node;

// Replaces control characters, invalid UTF-8, and the two Unicode characters that XML excludes.
std::string allowed(const std::string& text)
{
    std::string clean = base::printable(text);
    for (const auto& [bytes, shown] : {std::pair{"\xef\xbf\xbe", "\\ufffe"}, {"\xef\xbf\xbf", "\\uffff"}})
        for (std::size_t at = clean.find(bytes); at != std::string::npos; at = clean.find(bytes, at))
            clean.replace(at, 3, shown);
    return clean;
}

// Cube's parser does not accept <cnode/>, so an empty element gets a separate end tag.
void end_apart(xml_node node)
{
    node.append_child(pugi::node_pcdata);
}

void add(xml_node parent, const char* name, const std::string& text = {})
{
    xml_node node = parent.append_child(name);
    end_apart(node);
    node.text() = allowed(text).c_str();
}

const char* word(CubeMetric::Kind kind)
{
    constexpr std::array words{"EXCLUSIVE", "INCLUSIVE", "POSTDERIVED"};
    return words.at(static_cast<std::size_t>(kind));
}

const char* word(CubeMetric::Type type)
{
    constexpr std::array words{"DOUBLE", "UINT64", "INT64", "MINDOUBLE", "MAXDOUBLE"};
    return words.at(static_cast<std::size_t>(type));
}

void add_metrics(xml_node parent, const std::vector<CubeMetric>& metrics)
{
    std::vector<xml_node> nodes;
    for (const CubeMetric& metric : metrics) {
        xml_node node = (metric.parent ? nodes[*metric.parent] : parent).append_child("metric");
        node.append_attribute("id") = nodes.size();
        node.append_attribute("type") = word(metric.kind);
        add(node, "disp_name", metric.display_name);
        add(node, "uniq_name", metric.unique_name);
        add(node, "dtype", word(metric.type));
        add(node, "uom", metric.unit);
        add(node, "url");
        add(node, "descr", metric.description);
        if (metric.kind == CubeMetric::Kind::derived) add(node, "cubepl", metric.expression);
        nodes.push_back(node);
    }
}

void add_regions(xml_node parent, const std::vector<CubeRegion>& regions)
{
    std::size_t id = 0;
    for (const CubeRegion& region : regions) {
        xml_node node = parent.append_child("region");
        node.append_attribute("id") = id++;
        node.append_attribute("mod") = "";
        node.append_attribute("begin") = -1;
        node.append_attribute("end") = -1;
        add(node, "name", region.name);
        add(node, "mangled_name", region.name);
        add(node, "paradigm", region.paradigm);
        add(node, "role", region.role);
        add(node, "url");
        add(node, "descr");
    }
}

void add_call_paths(xml_node parent, const std::vector<CubeCallPath>& call_paths)
{
    std::vector<xml_node> nodes;
    for (const CubeCallPath& path : call_paths) {
        xml_node node = (path.parent ? nodes[*path.parent] : parent).append_child("cnode");
        node.append_attribute("id") = nodes.size();
        node.append_attribute("calleeId") = path.region;
        nodes.push_back(node);
    }
    for (xml_node node : nodes)
        if (!node.first_child()) end_apart(node);
}

xml_node add_named(xml_node parent, const char* element, std::size_t id, const std::string& name)
{
    xml_node node = parent.append_child(element);
    node.append_attribute("Id") = id;
    add(node, "name", name);
    return node;
}

// Cube's parser numbers nodes and processes in file order, and requires a location in each process.
void add_system(xml_node parent, const CubeProfile& profile)
{
    std::size_t nodes = 0;
    xml_node machine = add_named(parent, "systemtreenode", nodes++, profile.machine);
    add(machine, "class", "machine");
    xml_node node;
    std::string node_name;
    std::size_t location = 0;
    for (std::size_t i = 0; i < profile.processes.size(); ++i) {
        const CubeProcess& process = profile.processes[i];
        if (node.empty() || process.node != node_name) {
            node_name = process.node;
            node = add_named(machine, "systemtreenode", nodes++, node_name);
            add(node, "class", "node");
        }
        xml_node group = add_named(node, "locationgroup", i, process.name);
        add(group, "rank", std::to_string(process.rank));
        add(group, "type", process.kind);
        for (std::size_t thread = 0; location < profile.locations.size() && profile.locations[location].process == i;
             ++location, ++thread) {
            xml_node one = add_named(group, "location", location, profile.locations[location].name);
            add(one, "rank", std::to_string(thread));
            add(one, "type", profile.locations[location].kind);
        }
    }
    if (location != profile.locations.size()) base::fail("locations of a process are not contiguous");
}

// ------------------------------------------------------------------------------------------------------------ reading

std::string text_of(xml_node node, const char* element)
{
    return node.child_value(element);
}

// Calls take(element, parent's index) for all elements of that name, depth first in a tree.
template <class Take>
void for_tree(xml_node parent, const char* name, const Take& take)
{
    std::vector<std::pair<xml_node, std::optional<std::size_t>>> waiting;
    const auto add_children = [&](xml_node node, std::optional<std::size_t> index) {
        for (xml_node child = node.last_child(); child; child = child.previous_sibling())
            if (std::string_view{child.name()} == name) waiting.emplace_back(child, index);
    };
    add_children(parent, std::nullopt);
    for (std::size_t index = 0; !waiting.empty(); ++index) {
        const auto [node, above] = waiting.back();
        waiting.pop_back();
        take(node, above);
        add_children(node, index);
    }
}

void read_metrics(xml_node parent, Anchor& anchor)
{
    for_tree(parent, "metric", [&](xml_node node, std::optional<std::size_t> above) {
        CubeMetric metric{.unique_name = text_of(node, "uniq_name"),
                          .display_name = text_of(node, "disp_name"),
                          .unit = text_of(node, "uom"),
                          .description = text_of(node, "descr"),
                          .expression = text_of(node, "cubepl"),
                          .parent = above};
        const std::string kind = node.attribute("type").value();
        metric.kind = kind == "EXCLUSIVE"   ? CubeMetric::Kind::exclusive
                      : kind == "INCLUSIVE" ? CubeMetric::Kind::inclusive
                                            : CubeMetric::Kind::derived;
        const std::string type = text_of(node, "dtype");
        metric.type = type == "MINDOUBLE"                                        ? CubeMetric::Type::least
                      : type == "MAXDOUBLE"                                      ? CubeMetric::Type::most
                      : type.starts_with("UINT") || type.starts_with("UNSIGNED") ? CubeMetric::Type::whole
                      : type.find("INT") != std::string::npos                    ? CubeMetric::Type::signed_whole
                                                                                 : CubeMetric::Type::real;
        if (kind == "SIMPLE")
            anchor.profile.oddities.push_back("metric " + metric.unique_name + ": type SIMPLE is not supported");
        anchor.profile.metrics.push_back(std::move(metric));
        anchor.types.push_back(type);
        anchor.ids.emplace_back(node.attribute("id").value());
    });
}

void read_program(xml_node parent, CubeProfile& profile)
{
    std::unordered_map<std::string, std::size_t> regions;  // by id
    for (xml_node node : parent.children("region")) {
        const auto or_unknown = [](const std::string& text) { return text.empty() ? "unknown" : text; };
        if (!regions.emplace(node.attribute("id").value(), profile.regions.size()).second)
            base::fail("two regions have the id '", node.attribute("id").value(), "'");
        profile.regions.push_back({.name = text_of(node, "name"),
                                   .paradigm = or_unknown(text_of(node, "paradigm")),
                                   .role = or_unknown(text_of(node, "role"))});
    }
    for_tree(parent, "cnode", [&](xml_node node, std::optional<std::size_t> above) {
        const auto region = regions.find(node.attribute("calleeId").value());
        if (region == regions.end())
            base::fail("a call path is of region '", node.attribute("calleeId").value(), "', which is not defined");
        profile.call_paths.push_back({.region = region->second, .parent = above});
    });
}

void read_system(xml_node parent, CubeProfile& profile)
{
    std::map<unsigned long long, CubeLocation> locations;  // by id, which is the order of values in the file
    for_tree(parent, "systemtreenode", [&](xml_node node, std::optional<std::size_t> above) {
        if (!above && profile.machine.empty()) profile.machine = text_of(node, "name");
        for (xml_node group : node.children("locationgroup")) {
            profile.processes.push_back({.name = text_of(group, "name"),
                                         .node = text_of(node, "name"),
                                         .kind = text_of(group, "type"),
                                         .rank = group.child("rank").text().as_llong()});
            for (xml_node location : group.children("location"))
                if (!locations
                         .emplace(location.attribute("Id").as_ullong(),
                                  CubeLocation{.name = text_of(location, "name"),
                                               .kind = text_of(location, "type"),
                                               .process = profile.processes.size() - 1})
                         .second)
                    base::fail("two locations have the id ", location.attribute("Id").as_ullong());
        }
    });
    for (auto& [id, location] : locations) profile.locations.push_back(std::move(location));
}

}  // namespace

std::string anchor_xml(const CubeProfile& profile)
{
    pugi::xml_document document;
    xml_node declaration = document.append_child(pugi::node_declaration);
    declaration.append_attribute("version") = "1.0";
    declaration.append_attribute("encoding") = "UTF-8";
    xml_node cube = document.append_child("cube");
    cube.append_attribute("version") = "4.4";
    for (const auto& [key, value] : profile.attributes) {
        xml_node attribute = cube.append_child("attr");
        attribute.append_attribute("key") = allowed(key).c_str();
        attribute.append_attribute("value") = allowed(value).c_str();
    }
    add_metrics(cube.append_child("metrics"), profile.metrics);
    xml_node program = cube.append_child("program");
    add_regions(program, profile.regions);
    add_call_paths(program, profile.call_paths);
    add_system(cube.append_child("system"), profile);
    std::ostringstream text;
    document.save(text, " ");
    return std::move(text).str();
}

Anchor read_anchor_xml(std::string_view xml)
{
    pugi::xml_document document;
    const pugi::xml_parse_result result =
        document.load_buffer(xml.data(), xml.size(), pugi::parse_default | pugi::parse_ws_pcdata_single);
    if (!result) base::fail("its anchor.xml is not XML: ", result.description(), " at byte ", result.offset);
    const xml_node cube = document.child("cube");
    if (!std::string_view{cube.attribute("version").value()}.starts_with("4"))
        base::fail("its anchor.xml is not of Cube 4");
    Anchor anchor;
    for (xml_node attribute : cube.children("attr"))
        anchor.profile.attributes.emplace_back(attribute.attribute("key").value(),
                                               attribute.attribute("value").value());
    read_metrics(cube.child("metrics"), anchor);
    read_program(cube.child("program"), anchor.profile);
    read_system(cube.child("system"), anchor.profile);
    return anchor;
}

}  // namespace cube
