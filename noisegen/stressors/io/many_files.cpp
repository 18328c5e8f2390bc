// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/io/many_files.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/system/available.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace noisegen {

namespace {

constexpr std::uint64_t most_files = 50'000;     // below the link limit of common file systems, too
constexpr std::int64_t bytes_of_an_entry = 512;  // upper limit, for a name and an inode

}  // namespace

FileNames::FileNames(std::size_t count) : count_{count}, text_(count * stride, '\0')
{
    constexpr std::size_t digits = stride - 1;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string number = std::to_string(i);
        text_.replace(i * stride, digits, std::string(digits - number.size(), '0') + number);
    }
}

void make_file(int directory, const char* name, const std::filesystem::path& place)
{
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const base::Descriptor made =
        base::check_errno(::openat(directory, name, flags, 0600), "create a file in ", place.native());
}

std::vector<base::OptionCard> metadata_options(const std::string& files_help)
{
    return with_intensity("2000/s", {{"directory", "/tmp", "directory on the file system to stress, not in memory"},
                                     {"files", "2000", files_help + ", per CPU; they are removed at the end"}});
}

Needs MetadataOptions::needs(std::int64_t folders) const
{
    constexpr std::int64_t own = 4;  // the directory, its mark, the CPU's folder and a file
    const std::int64_t inodes = folders * (static_cast<std::int64_t>(files) + 1) + own;
    return {.disk = {inodes * bytes_of_an_entry}, .directory = directory, .files = inodes, .descriptors = 6};
}

std::size_t read_files(const std::string& stressor, const base::Settings& settings)
{
    const auto files = settings.get<std::uint64_t>("files");
    if (files < 1 || files > most_files)
        base::fail_usage(stressor, "[files] must be 1 to ", most_files, ", not ", settings.text("files"));
    return static_cast<std::size_t>(files);
}

MetadataOptions read_metadata_options(const std::string& stressor, const base::Settings& settings)
{
    return {.directory = settings.text("directory"), .files = read_files(stressor, settings)};
}

std::string scratch_note(const std::filesystem::path& directory)
{
    return "in " + directory.string() +
           (base::in_memory(directory) ? ", which is in memory, so no disk is stressed" : "");
}

}  // namespace noisegen
