// SPDX-License-Identifier: Apache-2.0
// Converts data sets from one format to another, and recognises the format of a file or folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ddl {

struct Converted {
    std::int64_t train = 0;  // number of samples, as for held_out
    std::int64_t held_out = 0;
};

// The formats that can be written: "cifar10", "mnist", "shards", "hdf5".
std::vector<std::string> formats();

// Writes the data set named by `text` to `path`, which must not exist yet. Samples are converted one by one, with at
// most a few MiB in memory. Throws UsageError for a format that cannot hold these samples, Error if the disk is too
// small.
Converted convert(const std::string& text, const std::string& format, const std::filesystem::path& path,
                  const std::function<void(double share)>& progress = {});

// Returns a data set's name, such as "mnist[path=DIR]". A file of no other format is a text. Throws Error for a folder
// without a known data set.
std::string recognise(const std::filesystem::path& path);

struct Findings {
    std::int64_t corrupt = 0;         // corrupt records
    std::vector<std::string> faults;  // messages about files and about the first ten corrupt records
};

// Reads every record of both parts and reports what is wrong.
Findings inspect(const std::string& text, const std::function<void(double share)>& progress = {});

}  // namespace ddl
