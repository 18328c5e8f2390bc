// SPDX-License-Identifier: Apache-2.0
// Reports if the training did not start, stops making progress, or has ended.
#pragma once

#include "base/contract/control_file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace noisegen {

class TrainingWatch {
 public:
    // Watches the run's control file on this host. Without a control file nothing is watched, unless the noise `needs`
    // it for delays or phases: then the constructor throws as ControlFile::open() does.
    TrainingWatch(const std::filesystem::path& run, const std::string& host, bool needs, std::int64_t now_ns);

    // Call it about once a second. Returns a message after each change of the training's state, otherwise none.
    std::optional<std::string> news(std::int64_t now_ns);

 private:
    std::filesystem::path path_;
    std::optional<base::ControlFile> control_;
    std::int64_t began_ns_;
    std::int64_t looked_ns_ = 0;
    std::int64_t updated_ns_ = 0;      // last sign of life from the training
    std::int64_t longest_gap_ns_ = 0;  // longest time between two signs of life
    bool silent_ = false;
};

}  // namespace noisegen
