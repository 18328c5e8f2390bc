// SPDX-License-Identifier: Apache-2.0
// The structure of OTF2's files, from OTF2_Buffer.c and OTF2_EvtReader_inc.c: chunks begin with a header. A record is a
// type byte, its length (one byte, or 255 and eight more bytes) and that many bytes. In event files, time stamps
// between records have no length field. Events with a single number have only the number's length, where 255 means a
// number without bytes.
#include "trace-tools/otf2/read/cut_off.hpp"

#include "base/error.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace otf2 {

namespace {

constexpr std::size_t header_bytes = 18;  // mark, byte order, numbers of the first and last event
constexpr std::uint8_t end_of_chunk = 0;
constexpr std::uint8_t end_of_file = 2;
constexpr std::uint8_t time_stamp = 5;
constexpr std::size_t time_stamp_bytes = 8;
constexpr std::uint8_t long_record = 255;
constexpr std::uint8_t no_bytes = 255;
constexpr std::uint8_t big_endian = 0x23;

// Types of records with a single number: enter, leave, four MPI requests, four old OpenMP events.
constexpr bool is_one_number(std::uint8_t type)
{
    constexpr std::uint32_t types = 1U << 12U | 1U << 13U | 1U << 16U | 1U << 17U | 1U << 20U | 1U << 21U | 1U << 24U |
                                    1U << 28U | 1U << 29U | 1U << 30U;
    return type < 32 && (types >> type & 1U) != 0;
}

std::string last_chunk(const std::filesystem::path& file, std::uint64_t chunk_bytes)
{
    const std::uint64_t size = std::filesystem::file_size(file);
    if (size == 0 || chunk_bytes == 0) return "";
    const std::uint64_t begin = (size - 1) / chunk_bytes * chunk_bytes;
    std::string chunk(size - begin, '\0');
    std::ifstream in{file, std::ios::binary};
    in.seekg(static_cast<std::streamoff>(begin));
    if (!in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()))) base::fail("cannot read ", file.string());
    return chunk;
}

class Walk {
 public:
    explicit Walk(std::string_view chunk) : chunk_{chunk}, big_{chunk.size() > 1 && byte(1) == big_endian} {}

    bool reaches_the_end(Records records)
    {
        at_ = header_bytes;
        while (at_ < chunk_.size()) {
            const std::uint8_t type = byte(at_++);
            if (type == end_of_file) return true;
            if (type == end_of_chunk) return false;
            if (type == time_stamp && records == Records::events)
                skip(time_stamp_bytes);
            else if (is_one_number(type) && records == Records::events)
                skip(number_length());
            else
                skip(record_length());
        }
        return false;
    }

 private:
    std::uint8_t byte(std::size_t at) const { return static_cast<std::uint8_t>(chunk_[at]); }

    void skip(std::uint64_t bytes) { at_ = bytes > chunk_.size() - at_ ? chunk_.size() : at_ + bytes; }

    std::uint64_t number_length()
    {
        if (at_ == chunk_.size()) return 0;
        const std::uint8_t length = byte(at_++);
        return length == no_bytes ? 0 : length;
    }

    std::uint64_t record_length()
    {
        if (at_ == chunk_.size()) return 0;
        const std::uint8_t length = byte(at_++);
        return length == long_record ? number() : length;
    }

    std::uint64_t number()
    {
        constexpr std::size_t bytes = sizeof(std::uint64_t);
        if (chunk_.size() - at_ < bytes) return UINT64_MAX;
        const auto* const number = reinterpret_cast<const unsigned char*>(chunk_.data() + at_);
        at_ += bytes;
        return big_ ? boost::endian::load_big_u64(number) : boost::endian::load_little_u64(number);
    }

    std::string_view chunk_;
    bool big_;
    std::size_t at_ = 0;
};

}  // namespace

void refuse_if_cut_off(const std::filesystem::path& file, std::uint64_t chunk_bytes, Records records)
{
    const std::string chunk = last_chunk(file, chunk_bytes);
    if (!Walk{chunk}.reaches_the_end(records)) base::fail(file.filename().string(), " is cut off");
}

std::uint64_t most_events(std::uint64_t defined, std::uint64_t bytes)
{
    constexpr std::uint64_t least_bytes = 2;  // a type and a length
    return std::max(2 * std::min(defined, UINT64_MAX / 4) + 1'000'000, bytes / least_bytes);
}

}  // namespace otf2
