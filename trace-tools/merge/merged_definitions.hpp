// SPDX-License-Identifier: Apache-2.0
// Merges the definitions of several archives. The first archive keeps its numbers, except of processes and locations,
// where those of the other archives come first. Definitions equal to those of an earlier archive are shared.
// Includes OTF2: for the sources of this room.
#pragma once

#include "trace-tools/merge/raw_definitions.hpp"

#include <map>
#include <set>

namespace merge {

class MergedDefinitions {
 public:
    // The archives must outlive this. Takes in the definitions of the first one.
    explicit MergedDefinitions(std::vector<const RawDefinitions*> archives);

    // From now on a node of another archive is one that the first one defines.
    void same_node(std::size_t archive, std::uint64_t node, std::uint64_t of_first);

    // Takes in the definitions of another archive; of nodes only those that processes and files lie on.
    void add(std::size_t archive);

    // New number of an added definition; the undefined number if the archive does not define it.
    std::uint64_t number(std::size_t archive, Space space, std::uint64_t old) const;

    // All numbers of the space that the archive defines, with their new numbers; empty if none has changed.
    std::map<std::uint64_t, std::uint64_t> changed_numbers(std::size_t archive, Space space) const;

    std::uint64_t string(const std::string& text);
    void rename_process(std::uint64_t process, const std::string& name);
    void set_events(std::uint64_t location, std::uint64_t events);

    // An instance of a metric class that a location records for the node it is on. Asked again for the same gives the
    // same. The class itself if it is none, or the location is on no node.
    std::uint64_t metric_of_node(std::uint64_t metric_class, std::uint64_t location);

    std::string text(std::uint64_t string) const;
    const Row& row(Space space, std::uint64_t number) const { return rows_[places_.at({space, number})]; }

    // Throws Error if they cannot be written.
    void write(OTF2_GlobalDefWriter* writer) const;

 private:
    struct Known {
        std::size_t archive;
        std::uint64_t number;
    };
    using Numbers = std::array<std::unordered_map<std::uint64_t, std::uint64_t>, spaces>;

    void take_in_all(std::size_t archive);
    std::uint64_t resolve(std::size_t archive, Space space, std::uint64_t old);
    std::uint64_t take_in(std::size_t archive, const Row& row);
    void take_in_detail(std::size_t archive, const Row& row);
    std::uint64_t take_in_speakers(std::size_t archive, Row row, std::uint64_t old);
    Row mapped(std::size_t archive, const Row& row);
    std::uint64_t mapped_value(std::size_t archive, std::uint64_t type, std::uint64_t value);
    void map_members(std::size_t archive, Row& group);
    std::uint64_t new_number(std::size_t archive, Space space, std::uint64_t old);
    std::uint64_t append(Space space, Row row, std::uint64_t number);
    Row& row(Space space, std::uint64_t number) { return rows_[places_.at({space, number})]; }

    std::vector<const RawDefinitions*> archives_;
    std::vector<Row> rows_;
    std::map<std::pair<Space, std::uint64_t>, std::size_t> places_;  // of numbered rows
    std::map<Row, Known> known_;                                     // by what they say, their own number 0
    std::vector<Numbers> numbers_;                                   // by archive: from its numbers to the merged ones
    std::array<std::uint64_t, spaces> next_{};                       // where to look for a free number
    std::array<std::uint64_t, spaces> next_of_first_{};              // of processes and locations
    std::set<std::uint64_t> others_nodes_;                           // that the first archive does not define
    std::map<std::uint64_t, std::uint64_t> speakers_;                // by paradigm: the group that lists its locations
    std::vector<std::map<std::uint64_t, std::uint64_t>> first_speaker_;  // by archive and paradigm: place in that list
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> metrics_of_nodes_;
};

}  // namespace merge
