// SPDX-License-Identifier: Apache-2.0
// Data sets from one format into another, and what lies in a file or folder of unknown format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ddl {

struct Converted {
    std::int64_t train = 0;  // samples
    std::int64_t held_out = 0;
};

// Formats that can be written: "cifar10", "mnist", "shards", "hdf5".
std::vector<std::string> formats();

// Writes the data set `text`, sample by sample and never more than a few MiB of it in memory, into `path`, which must
// not be there yet. Throws UsageError for a format that cannot hold these samples, Error for a disk too small.
Converted convert(const std::string& text, const std::string& format, const std::filesystem::path& path,
                  const std::function<void(double share)>& progress = {});

// "mnist[path=DIR]". Text is what nothing else is. Throws Error for a folder without a known data set in it.
std::string recognise(const std::filesystem::path& path);

struct Findings {
    std::int64_t corrupt = 0;         // records
    std::vector<std::string> faults;  // of files and of the first ten corrupt records
};

// Reads every record of both parts.
Findings inspect(const std::string& text, const std::function<void(double share)>& progress = {});

}  // namespace ddl
