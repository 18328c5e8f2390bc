// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/read/archive_files.hpp"

#include "base/contract/run_directory.hpp"

#include <string>
#include <utility>

namespace otf2 {

namespace {

// OTF2 would wait for ever on a pipe.
void refuse_unless_regular(const std::filesystem::path& file)
{
    if (!std::filesystem::is_regular_file(file)) base::fail(file.filename().string(), " is not a regular file");
}

[[noreturn]] void refuse_directory(const std::filesystem::path& directory)
{
    const std::filesystem::path of_part = base::file::anchor_in_part;
    for (const std::filesystem::path& anchor :
         {std::filesystem::path{base::file::anchor}, of_part, base::part::train / of_part})
        if (std::filesystem::exists(directory / anchor))
            base::fail("a directory; give ", (directory / anchor).string());
    base::fail("a directory; give the archive's .otf2 file");
}

}  // namespace

ReaderHandle open_archive(const std::filesystem::path& anchor)
{
    keep_otf2_quiet();
    std::error_code code;
    if (!std::filesystem::exists(anchor, code)) base::fail("no such file");
    if (std::filesystem::is_directory(anchor, code)) refuse_directory(anchor);
    refuse_unless_regular(anchor);
    OTF2_Reader* reader = OTF2_Reader_Open(anchor.c_str());
    if (reader == nullptr) base::fail("not an OTF2 archive, or one that is cut off");
    ReaderHandle handle{reader};
    check(OTF2_Reader_SetSerialCollectiveCallbacks(reader), "read it alone");
    return handle;
}

ArchiveFiles::ArchiveFiles(std::filesystem::path anchor, OTF2_Reader* reader) : anchor_{std::move(anchor)}
{
    OTF2_FileSubstrate substrate = OTF2_SUBSTRATE_UNDEFINED;
    OTF2_Compression compression = OTF2_COMPRESSION_UNDEFINED;
    check(OTF2_Reader_GetFileSubstrate(reader, &substrate), "get its file substrate");
    check(OTF2_Reader_GetCompression(reader, &compression), "get its compression");
    check(OTF2_Reader_GetChunkSize(reader, &event_chunk_, &definition_chunk_), "get its chunk sizes");
    separate_ = substrate == OTF2_SUBSTRATE_POSIX;
    plain_ = separate_ && compression == OTF2_COMPRESSION_NONE;
}

void ArchiveFiles::refuse_cut_off_definitions() const
{
    std::filesystem::path file = anchor_;
    refuse(file.replace_extension(".def"), definition_chunk_, Records::definitions);
}

std::uintmax_t ArchiveFiles::check_definitions(const Location& location) const
{
    const std::filesystem::path file = of(location, ".def");
    refuse(file, definition_chunk_, Records::definitions);
    std::error_code missing;
    const std::uintmax_t bytes = std::filesystem::file_size(file, missing);
    return missing ? 0 : bytes;
}

void ArchiveFiles::refuse_cut_off_events(const Location& location) const
{
    refuse(of(location, ".evt"), event_chunk_, Records::events);
}

std::uintmax_t ArchiveFiles::bytes_of_events(const Location& location) const
{
    std::error_code missing;
    const std::uintmax_t bytes = plain_ ? std::filesystem::file_size(of(location, ".evt"), missing) : 0;
    return missing ? 0 : bytes;
}

bool ArchiveFiles::has_events(const Location& location) const
{
    return !separate_ || std::filesystem::exists(of(location, ".evt"));
}

std::filesystem::path ArchiveFiles::of(const Location& location, const char* kind) const
{
    return anchor_.parent_path() / anchor_.stem() / (std::to_string(location.id) + kind);
}

void ArchiveFiles::refuse(const std::filesystem::path& file, std::uint64_t chunk_bytes, Records records) const
{
    if (!plain_ || !std::filesystem::exists(file)) return;
    refuse_unless_regular(file);
    refuse_if_cut_off(file, chunk_bytes, records);
}

}  // namespace otf2
