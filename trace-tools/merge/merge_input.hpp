// SPDX-License-Identifier: Apache-2.0
// One of the archives to be merged, and which of the training's clocks belongs to a location of the noise.
// Includes OTF2: for the sources of this room.
#pragma once

#include "trace-tools/merge/event_copy.hpp"
#include "trace-tools/merge/raw_definitions.hpp"
#include "trace-tools/otf2/read/archive_files.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace merge {

struct MergeInput {
    std::filesystem::path anchor;
    std::size_t number;  // 0: the training
    otf2::Archive archive;
    otf2::ArchiveFiles files;
    RawDefinitions definitions;
    std::vector<std::uint64_t> nodes = {};      // OTF2's numbers, by index in the archive
    std::vector<std::uint64_t> processes = {};  // likewise
    std::vector<CopiedEvents> copied = {};      // by location

    std::uint32_t node_of(const otf2::Location& location) const;  // index; nowhere: unknown
    std::string host_of(const otf2::Location& location) const;
    // The node of that name that the location is on or below.
    std::uint32_t node_named(const std::string& name, const otf2::Location& location) const;
};

// Throws Error if there is no archive, or not a whole one.
MergeInput read_merge_input(const std::filesystem::path& anchor, std::size_t number);

otf2::ReaderHandle open_with_all_locations(const MergeInput& input);

// noisegen has one process an archive; a merged one says what noisegen says, too, but is also a training.
bool is_noise_alone(const otf2::Archive& archive);

// A location of the training whose clock a location of the noise reads, or differs from by a stated offset.
struct Beside {
    const otf2::Location* location = nullptr;
    bool same_clock = false;
};

// Throws Error if there is none.
Beside beside(const MergeInput& training, const MergeInput& noise, const otf2::Location& location, bool offset_stated);

}  // namespace merge
