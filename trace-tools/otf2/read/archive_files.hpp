// SPDX-License-Identifier: Apache-2.0
// Opens an archive, and checks its files before OTF2 reads them. Includes OTF2's headers: for .cpp files of
// trace-tools, not for its public headers.
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/read/cut_off.hpp"

#include <cstdint>
#include <filesystem>

namespace otf2 {

// Throws Error if there is no archive.
ReaderHandle open_archive(const std::filesystem::path& anchor);

// Checks the files of an archive. Archives in one SION file and compressed ones cannot be checked, and count as
// complete.
class ArchiveFiles {
 public:
    ArchiveFiles(std::filesystem::path anchor, OTF2_Reader* reader);

    void refuse_cut_off_definitions() const;
    // Returns the size of the location's definition file in bytes, 0 if it has none.
    std::uintmax_t check_definitions(const Location& location) const;
    void refuse_cut_off_events(const Location& location) const;

    std::uint64_t event_chunk_bytes() const { return event_chunk_; }
    std::uint64_t definition_chunk_bytes() const { return definition_chunk_; }

    // Size of the location's event file; 0 if that does not bound the number of events.
    std::uintmax_t bytes_of_events(const Location& location) const;
    bool has_events(const Location& location) const;

 private:
    std::filesystem::path of(const Location& location, const char* kind) const;
    void refuse(const std::filesystem::path& file, std::uint64_t chunk_bytes, Records records) const;

    std::filesystem::path anchor_;
    std::uint64_t event_chunk_ = 0;
    std::uint64_t definition_chunk_ = 0;
    bool separate_ = true;
    bool plain_ = true;
};

}  // namespace otf2
