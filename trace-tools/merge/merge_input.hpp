// SPDX-License-Identifier: Apache-2.0
// An archive to be merged, and the training's location whose clock a location of the noise shares.
// Includes OTF2's headers: for use within merge/ only.
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
    std::vector<std::uint64_t> nodes = {};      // OTF2's reference numbers of nodes, by index in the archive
    std::vector<std::uint64_t> processes = {};  // those of processes
    std::vector<CopiedEvents> copied = {};      // by location

    std::uint32_t node_of(const otf2::Location& location) const;  // index; nowhere: unknown
    std::string host_of(const otf2::Location& location) const;
    // Returns the location's node or the nearest of its parents that has this name; nowhere if there is none.
    std::uint32_t node_named(const std::string& name, const otf2::Location& location) const;
};

// Throws Error if there is no archive, or the archive is incomplete.
MergeInput read_merge_input(const std::filesystem::path& anchor, std::size_t number);

otf2::ReaderHandle open_with_all_locations(const MergeInput& input);

// True for an archive of noisegen, which has one process. A merged archive has noisegen's properties too, but also a
// training.
bool is_noise_alone(const otf2::Archive& archive);

// The training's location whose clock a noise location shares, or differs from by the stated offset.
struct Beside {
    const otf2::Location* location = nullptr;
    bool same_clock = false;
};

// Throws Error if there is no such location.
Beside beside(const MergeInput& training, const MergeInput& noise, const otf2::Location& location, bool offset_stated);

}  // namespace merge
