// SPDX-License-Identifier: Apache-2.0
// Notices when the training that the noise is for does not come, stands still or has ended.
#pragma once

#include "base/contract/control_file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace noisegen {

class TrainingWatch {
 public:
    // Watches the run's control file on this host. Without one there is nothing to watch, unless the noise `needs` it:
    // asks for delays, follows phases: then it throws as ControlFile::open() does.
    TrainingWatch(const std::filesystem::path& run, const std::string& host, bool needs, std::int64_t now_ns);

    // A message, once for each change; none most of the time. To be called every second or so.
    std::optional<std::string> news(std::int64_t now_ns);

 private:
    std::filesystem::path path_;
    std::optional<base::ControlFile> control_;
    std::int64_t began_ns_;
    std::int64_t looked_ns_ = 0;
    std::int64_t updated_ns_ = 0;      // the last sign of life that was seen
    std::int64_t longest_gap_ns_ = 0;  // between two of them
    bool silent_ = false;
};

}  // namespace noisegen
