// SPDX-License-Identifier: Apache-2.0
// Nothing: the CPU sleeps. The reference that all effects are measured against.
#include "noisegen/stressors/stressor.hpp"

namespace noisegen {

extern const StressorCard quiet{
    .name = "quiet",
    .summary = "no noise: the CPU sleeps",
    .cpus = StressorCard::Cpus::none,
    .make = [](const base::Settings&, const Place&) { return std::unique_ptr<Stressor>{}; },
};

}  // namespace noisegen
