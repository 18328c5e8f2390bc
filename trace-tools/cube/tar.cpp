// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/cube/tar.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include <archive.h>
#include <archive_entry.h>

namespace cube {

namespace {

using Entry = std::unique_ptr<archive_entry, void (*)(archive_entry*)>;
using Reading = std::unique_ptr<archive, int (*)(archive*)>;

void check(archive* tar, int code, const char* what)
{
    if (code >= ARCHIVE_WARN) return;
    const char* const why = archive_error_string(tar);
    base::fail(what, ": ", why != nullptr ? why : "damaged");
}

// Layout of a header in POSIX 1003.1 ustar.
constexpr std::size_t block = 512;
constexpr std::size_t size_at = 124;
constexpr std::size_t size_digits = 11;
constexpr std::size_t checksum_at = 148;
constexpr std::size_t checksum_length = 8;
constexpr std::size_t magic_at = 257;

// Corrects checksums, completes a last block whose padding is cut off, and removes everything after the end. Follows
// the headers as long as they are valid.
void repair(std::string& bytes)
{
    std::size_t at = 0;
    bool ended = false;  // a block of zeros was found
    while (at + block <= bytes.size()) {
        const std::string_view header = std::string_view{bytes}.substr(at, block);
        if (header.front() == '\0') {
            at += block;
            ended = true;
            continue;
        }
        std::uint64_t size = 0;
        const char* const first = header.data() + size_at;
        const auto [end, error] = std::from_chars(first, first + size_digits, size, 8);
        if (header.substr(magic_at, 5) != "ustar" || error != std::errc{} || size > bytes.size() - at - block) {
            if (ended) bytes.resize(at);
            return;
        }
        ended = false;
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at + checksum_at), checksum_length, ' ');
        unsigned sum = std::accumulate(header.begin(), header.end(), 0U, [](unsigned so_far, char byte) {
            return so_far + static_cast<unsigned char>(byte);
        });
        bytes[at + checksum_at + 6] = '\0';
        for (std::size_t digit = 6; digit-- > 0; sum /= 8)
            bytes[at + checksum_at + digit] = static_cast<char>('0' + sum % 8);
        at += block + (size + block - 1) / block * block;
    }
    if (at > bytes.size() || bytes[at] == '\0' || ended) bytes.resize(at);  // at size() there is a '\0'
}

Reading reading()
{
    Reading tar{archive_read_new(), archive_read_free};
    if (!tar) base::fail("out of memory");
    return tar;
}

std::string content(archive* from, std::size_t most)
{
    std::string content;
    for (;;) {
        const void* piece = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        const int code = archive_read_data_block(from, &piece, &size, &offset);
        if (code == ARCHIVE_EOF) return content;
        check(from, code, "a damaged member");
        if (size > most - content.size()) base::fail("a member has more than ", most, " bytes");
        content.append(static_cast<const char*>(piece), size);
    }
}

}  // namespace

TarWriter::TarWriter() : archive_{archive_write_new(), archive_write_free}
{
    if (!archive_) base::fail("out of memory");
    const auto append = [](archive*, void* bytes, const void* more, std::size_t size) -> la_ssize_t {
        static_cast<std::string*>(bytes)->append(static_cast<const char*>(more), size);
        return static_cast<la_ssize_t>(size);
    };
    check(archive_.get(), archive_write_set_format_pax_restricted(archive_.get()), "choose the format");
    check(archive_.get(), archive_write_set_bytes_in_last_block(archive_.get(), 1), "choose no padding");
    check(archive_.get(), archive_write_open2(archive_.get(), &bytes_, nullptr, append, nullptr, nullptr), "write");
}

void TarWriter::add(const std::string& name, std::string_view content)
{
    constexpr unsigned owner_only = 0600;
    const Entry entry{archive_entry_new(), archive_entry_free};
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), owner_only);
    check(archive_.get(), archive_write_header(archive_.get(), entry.get()), "write a member's header");
    if (archive_write_data(archive_.get(), content.data(), content.size()) < 0)
        check(archive_.get(), ARCHIVE_FATAL, "write a member");
}

std::string TarWriter::finish()
{
    check(archive_.get(), archive_write_close(archive_.get()), "write the end");
    return std::move(bytes_);
}

void read_tar(std::string bytes, const std::function<bool(const std::string& name)>& wanted,
              const std::function<void(const std::string& name, std::string content)>& take)
{
    repair(bytes);
    const Reading tar = reading();
    check(tar.get(), archive_read_support_format_tar(tar.get()), "set up");
    check(tar.get(), archive_read_set_format_option(tar.get(), "tar", "read_concatenated_archives", "1"), "set up");
    check(tar.get(), archive_read_open_memory(tar.get(), bytes.data(), bytes.size()), "not a tar archive");
    for (archive_entry* entry = nullptr;;) {
        const int code = archive_read_next_header(tar.get(), &entry);
        if (code == ARCHIVE_EOF) return;
        check(tar.get(), code, "not a tar archive, or damaged");
        const char* const name = archive_entry_pathname(entry);
        if (name != nullptr && wanted(name)) take(name, content(tar.get(), bytes.size()));
    }
}

std::string gunzipped(const std::string& bytes, std::size_t most)
{
    const Reading gzip = reading();
    archive_entry* entry = nullptr;
    check(gzip.get(), archive_read_support_filter_gzip(gzip.get()), "set up");
    check(gzip.get(), archive_read_support_format_raw(gzip.get()), "set up");
    check(gzip.get(), archive_read_open_memory(gzip.get(), bytes.data(), bytes.size()), "not a gzip file");
    check(gzip.get(), archive_read_next_header(gzip.get(), &entry), "not a gzip file");
    return content(gzip.get(), most);
}

}  // namespace cube
