// SPDX-License-Identifier: Apache-2.0
// Merges the definitions of several archives. The first archive keeps its numbers, except of processes and locations,
// where those of the other archives come first. Definitions equal to those of an earlier archive are shared.
// Includes OTF2's headers: for use within merge/ only.
#pragma once

#include "trace-tools/merge/raw_definitions.hpp"

#include <map>
#include <set>

namespace merge {

class MergedDefinitions {
 public:
    // Adds the definitions of the first archive. The archives must outlive this object.
    explicit MergedDefinitions(std::vector<const RawDefinitions*> archives);

    // Maps a node of another archive to one of the first archive. Call before add().
    void same_node(std::size_t archive, std::uint64_t node, std::uint64_t of_first);

    // Adds the definitions of another archive; nodes only if processes or files refer to them.
    void add(std::size_t archive);

    // Returns the new number of an added definition; the undefined number if the archive does not define it.
    std::uint64_t number(std::size_t archive, Space space, std::uint64_t old) const;

    // Returns all numbers of the space that the archive defines, with their new numbers; empty if none has changed.
    std::map<std::uint64_t, std::uint64_t> changed_numbers(std::size_t archive, Space space) const;

    std::uint64_t string(const std::string& text);
    void rename_process(std::uint64_t process, const std::string& name);
    void set_events(std::uint64_t location, std::uint64_t events);

    // Returns the instance of an asynchronous metric class that the location records for its node; always the same one
    // for the same arguments. Returns the metric itself if it is no such class, or if the location is on no node.
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
    std::map<std::pair<Space, std::uint64_t>, std::size_t> places_;  // index of each numbered row
    std::map<Row, Known> known_;                                     // by content, with own number 0
    std::vector<Numbers> numbers_;                                   // by archive: old to new numbers
    std::array<std::uint64_t, spaces> next_{};                       // where to start looking for a free number
    std::array<std::uint64_t, spaces> next_of_first_{};              // same, for its processes and locations
    std::set<std::uint64_t> others_nodes_;                           // nodes that the first archive does not define
    std::map<std::uint64_t, std::uint64_t> speakers_;                // by paradigm: the group that lists its locations
    std::vector<std::map<std::uint64_t, std::uint64_t>> first_speaker_;  // by archive and paradigm: index in that list
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> metrics_of_nodes_;
};

}  // namespace merge
