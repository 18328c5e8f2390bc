// SPDX-License-Identifier: Apache-2.0
// Ends all processes of a run if the run itself cannot, after kill -9.
#pragma once

#include "base/descriptor.hpp"

#include <filesystem>

namespace crosstalk {

// Starts a separate process, adopted by init or another reaper, that waits until this one is killed and then ends
// everything that was started for the run. Does nothing in a campaign, which ends leftovers when it continues. Create
// it before anything is started, and before this process adopts orphans.
class Guardian {
 public:
    explicit Guardian(const std::filesystem::path& run);
    ~Guardian();
    Guardian(const Guardian&) = delete;
    Guardian& operator=(const Guardian&) = delete;

 private:
    base::Descriptor life_;  // the kernel closes it when this process is killed
};

}  // namespace crosstalk
