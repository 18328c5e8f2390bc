// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/stored/zip_member.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "soft-errors/state/checksums.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <span>
#include <string_view>

#include <zlib.h>

namespace soft_errors {

namespace {

constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::uint32_t entry_signature = 0x02014b50;
constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t descriptor_signature = 0x08074b50;
constexpr std::size_t end_size = 22;
constexpr std::size_t entry_size = 46;
constexpr std::size_t local_size = 30;
constexpr std::size_t crc_and_sizes = 12;
constexpr unsigned crc_in_descriptor = 1U << 3U;
constexpr unsigned encrypted = 1U;
constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30U;  // larger archives need zip64

// Reads little-endian numbers of the archive; an offset outside of it is an Error.
class Archive {
 public:
    explicit Archive(const std::filesystem::path& path) : path_{path.string()}, bytes_{base::read_whole(path)} {}

    std::uint16_t u16(std::uint64_t at) const { return boost::endian::load_little_u16(bytes_at(at, 2)); }
    std::uint32_t u32(std::uint64_t at) const { return boost::endian::load_little_u32(bytes_at(at, 4)); }
    std::string_view text(std::uint64_t at, std::uint64_t size) const
    {
        if (at > bytes_.size() || size > bytes_.size() - at) damaged("cut off");
        return std::string_view{bytes_}.substr(at, size);
    }
    [[noreturn]] void damaged(const char* why) const { base::fail(path_, " is not a valid zip archive: ", why); }
    const std::string& bytes() const { return bytes_; }

 private:
    const unsigned char* bytes_at(std::uint64_t at, std::uint64_t size) const
    {
        return reinterpret_cast<const unsigned char*>(text(at, size).data());
    }

    std::string path_;
    std::string bytes_;
};

std::uint64_t end_of_directory(const Archive& archive)
{
    constexpr std::size_t longest_comment = 65535;
    const std::string& bytes = archive.bytes();
    if (bytes.size() < end_size) archive.damaged("cut off");
    const std::uint64_t last = bytes.size() - end_size;
    for (std::uint64_t back = 0; back <= std::min<std::uint64_t>(last, longest_comment); ++back)
        if (archive.u32(last - back) == end_signature) return last - back;
    archive.damaged("no central directory at its end");
}

// Offsets of a member's checksum: in the directory, and in its local header or, if sizes follow the bytes, after these.
std::vector<std::uint64_t> places_of_crc(const Archive& archive, const ZipMember& member)
{
    std::vector<std::uint64_t> places{member.entry + 16};
    if ((archive.u16(member.header + 6) & crc_in_descriptor) == 0) {
        places.push_back(member.header + 14);
    } else {
        const std::uint64_t behind = member.at + member.packed_bytes;
        places.push_back(archive.u32(behind) == descriptor_signature ? behind + 4 : behind);
        static_cast<void>(archive.text(places.back(), crc_and_sizes));
    }
    for (const std::uint64_t place : places)
        if (archive.u32(place) != member.crc32) archive.damaged("its CRC-32 values contradict each other");
    return places;
}

ZipMember member_at(const Archive& archive, std::uint64_t entry)
{
    if (archive.u32(entry) != entry_signature) archive.damaged("its directory is damaged");
    ZipMember member;
    member.entry = entry;
    member.name = archive.text(entry + entry_size, archive.u16(entry + 28));
    if ((archive.u16(entry + 8) & encrypted) != 0) archive.damaged("it is encrypted");
    const std::uint32_t method = archive.u16(entry + 10);
    if (method != 0 && method != Z_DEFLATED) archive.damaged("compressed with a method other than deflate");
    member.stored = method == 0;
    member.crc32 = archive.u32(entry + 16);
    member.packed_bytes = archive.u32(entry + 20);
    member.bytes = archive.u32(entry + 24);
    member.header = archive.u32(entry + 42);
    if (archive.u32(member.header) != local_signature) archive.damaged("a member's header is missing");
    member.at = member.header + local_size + archive.u16(member.header + 26) + archive.u16(member.header + 28);
    static_cast<void>(archive.text(member.at, member.packed_bytes));
    if (member.stored && member.bytes != member.packed_bytes) archive.damaged("a member has two sizes");
    member.crc32_at = places_of_crc(archive, member);
    return member;
}

std::string inflated(const Archive& archive, const ZipMember& member)
{
    constexpr std::uint64_t best_ratio = 1032;  // largest ratio that deflate reaches
    if (member.bytes / best_ratio > member.packed_bytes) archive.damaged("a member is too large");
    const std::string_view packed = archive.text(member.at, member.packed_bytes);
    std::string plain(member.bytes, '\0');
    z_stream stream{};
    if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) base::fail("zlib cannot start");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // zlib only reads it
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(plain.data());
    stream.avail_out = static_cast<uInt>(plain.size());
    const int code = ::inflate(&stream, Z_FINISH);
    const bool whole = code == Z_STREAM_END && stream.avail_out == 0;
    ::inflateEnd(&stream);
    if (!whole || crc32(std::as_bytes(std::span{plain})) != member.crc32) archive.damaged("a member is damaged");
    return plain;
}

// Checks an offset that was read from the file, which may come from anywhere.
unsigned char* room_at(std::string& bytes, std::uint64_t at, std::uint64_t size)
{
    if (at > bytes.size() || size > bytes.size() - at) base::fail("a zip archive has an offset outside of itself");
    return reinterpret_cast<unsigned char*>(bytes.data() + at);
}

void put_u16(std::string& bytes, std::uint64_t at, std::uint16_t value)
{
    boost::endian::store_little_u16(room_at(bytes, at, 2), value);
}

void put_u32(std::string& bytes, std::uint64_t at, std::uint64_t value)
{
    boost::endian::store_little_u32(room_at(bytes, at, 4), static_cast<std::uint32_t>(value));
}

[[noreturn]] void fail_too_large(const std::filesystem::path& archive)
{
    base::fail(archive.string(), " has 4 GiB or more: extract the .h5 and alter that");
}

std::vector<ZipMember> members_of(const Archive& archive)
{
    const std::uint64_t end = end_of_directory(archive);
    std::uint64_t entry = archive.u32(end + 16);
    std::vector<ZipMember> members;
    for (std::uint32_t left = archive.u16(end + 10); left > 0; --left) {
        members.push_back(member_at(archive, entry));
        entry += entry_size + archive.u16(entry + 28) + archive.u16(entry + 30) + archive.u16(entry + 32);
    }
    return members;
}

}  // namespace

std::vector<ZipMember> zip_members(const std::filesystem::path& archive)
{
    if (std::filesystem::file_size(archive) >= most_bytes) fail_too_large(archive);
    return members_of(Archive{archive});
}

void copy_with_member_stored(const std::filesystem::path& archive, const ZipMember& member,
                             const std::filesystem::path& copy)
{
    const Archive old{archive};
    const std::string plain = inflated(old, member);
    const std::uint64_t more = member.bytes - member.packed_bytes;  // may wrap around; sums are right all the same
    if (old.bytes().size() + more >= most_bytes) fail_too_large(archive);
    std::string bytes = old.bytes();
    const std::uint64_t end = end_of_directory(old);
    for (const ZipMember& other : members_of(old))
        if (other.header > member.header) put_u32(bytes, other.entry + 42, other.header + more);
    put_u32(bytes, end + 16, old.u32(end + 16) + more);
    put_u16(bytes, member.entry + 10, 0);
    put_u32(bytes, member.entry + 20, member.bytes);
    put_u16(bytes, member.header + 8, 0);
    const bool described = (old.u16(member.header + 6) & crc_in_descriptor) != 0;
    // If a data descriptor follows, it holds the sizes, after the CRC-32.
    put_u32(bytes, described ? member.crc32_at.back() + 4 : member.header + 18, member.bytes);
    bytes.replace(member.at, member.packed_bytes, plain);
    base::write_whole(copy, bytes);
}

}  // namespace soft_errors
