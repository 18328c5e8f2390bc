// SPDX-License-Identifier: Apache-2.0
// Ends what was started for a run where the run itself cannot: after kill -9.
#pragma once

#include "base/descriptor.hpp"

#include <filesystem>

namespace crosstalk {

// While this lives another process, adopted by init or another reaper, waits for this one to be killed, and then
// ends all that was started for the run. There is none in a campaign, which ends what it finds when it continues. To be
// made before anything is started, and before this process adopts orphans.
class Guardian {
 public:
    explicit Guardian(const std::filesystem::path& run);
    ~Guardian();
    Guardian(const Guardian&) = delete;
    Guardian& operator=(const Guardian&) = delete;

 private:
    base::Descriptor life_;  // closed by the kernel where this process is killed
};

}  // namespace crosstalk
