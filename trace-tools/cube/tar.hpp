// SPDX-License-Identifier: Apache-2.0
// Tar archives and gzip in memory, using libarchive.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct archive;

namespace cube {

class TarWriter {
 public:
    TarWriter();

    // Throws Error.
    void add(const std::string& name, std::string_view content);

    std::string finish();

 private:
    std::string bytes_;
    std::unique_ptr<archive, int (*)(archive*)> archive_;
};

// Passes the content of each wanted member to `take`. Accepts wrong checksums, single empty blocks between members and
// a missing end, all of which Cube writes. Throws Error.
void read_tar(std::string bytes, const std::function<bool(const std::string& name)>& wanted,
              const std::function<void(const std::string& name, std::string content)>& take);

// Throws Error if the data is not gzip or expands to more than `most` bytes.
std::string gunzipped(const std::string& bytes, std::size_t most);

}  // namespace cube
