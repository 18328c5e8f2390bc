// SPDX-License-Identifier: Apache-2.0
// All global definitions of an archive as rows of numbers, so that they can be written to another archive with other
// numbers. Includes OTF2's headers: for use within merge/ only.
#pragma once

#include <otf2/otf2.h>

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace merge {

// Kinds of definitions that a number can refer to. The first ones are in the order of OTF2_MAPPING_*, and of
// OTF2_TYPE_* from OTF2_TYPE_STRING on.
enum class Space : std::uint8_t {
    string,
    attribute,
    location,
    region,
    group,
    metric,
    communicator,
    parameter,
    rma_window,
    source_code_location,
    calling_context,
    interrupt_generator,
    io_file,
    io_handle,
    location_group,
    node,
    callpath,
    callsite,
    metric_member,
    io_paradigm,
    dimension,
    topology,
    number,  // a plain number, not a reference
    value,   // a value, with the type in the previous cell
    scope    // a reference of the kind in the previous cell
};
constexpr std::size_t spaces = static_cast<std::size_t>(Space::number);
constexpr std::size_t mapped_spaces = static_cast<std::size_t>(Space::node);  // those that events refer to

// Returns the number that means "undefined" in this space.
std::uint64_t undefined(Space space);

// Kinds of definitions, in the order in which they are written.
enum class Kind : std::uint8_t {
    string,
    paradigm,
    paradigm_property,
    io_paradigm,
    attribute,
    node,
    node_property,
    node_domain,
    location_group,
    location_group_property,
    location,
    location_property,
    region,
    callsite,
    source_code_location,
    calling_context,
    calling_context_property,
    interrupt_generator,
    callpath,
    parameter,
    callpath_parameter,
    group,
    metric_member,
    metric_class,
    metric_instance,
    metric_class_recorder,
    communicator,
    inter_communicator,
    rma_window,
    dimension,
    topology,
    coordinate,
    io_regular_file,
    io_directory,
    io_file_property,
    io_handle,
    io_handle_state
};
constexpr std::size_t kinds = static_cast<std::size_t>(Kind::io_handle_state) + 1;

struct Row {
    Kind kind = Kind::string;
    std::vector<std::uint64_t> cells{};  // the first is its own number, or that of the definition it adds to
    std::vector<std::uint64_t> list{};
    std::string text{};  // of a string
    auto operator<=>(const Row&) const = default;
};

struct Form {
    std::vector<Space> cells;
    Space list = Space::number;  // kind of the list's items; a group's depends on its type
    bool numbered = true;        // the first cell is its own number
    bool shared = true;          // equal definitions of two archives are the same
    OTF2_ErrorCode (*write)(OTF2_GlobalDefWriter*, const Row&) = nullptr;
    void (*listen)(OTF2_GlobalDefReaderCallbacks*) = nullptr;
};
const Form& form(Kind kind);

struct RawClock {
    std::uint64_t ticks_per_s = 1'000'000'000;
    std::uint64_t begin = OTF2_UNDEFINED_TIMESTAMP;  // not stated: OTF2 1.1
    std::uint64_t length = 0;
    std::uint64_t realtime = OTF2_UNDEFINED_TIMESTAMP;
};

struct RawDefinitions {
    RawClock clock;
    std::vector<Row> rows;                                                       // in the order of the archive
    std::array<std::unordered_map<std::uint64_t, std::size_t>, spaces> rows_of;  // index, by own number
    std::size_t unknown = 0;  // definitions of kinds that this OTF2 does not know

    // Null if the number is not defined.
    const Row* find(Space space, std::uint64_t number) const;
};

// Throws Error if definitions are missing.
RawDefinitions read_raw_definitions(OTF2_Reader* reader);

}  // namespace merge
