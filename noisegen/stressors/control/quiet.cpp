// SPDX-License-Identifier: Apache-2.0
// Does nothing: the CPU sleeps. All effects are measured relative to it.
#include "noisegen/stressors/stressor.hpp"

namespace noisegen {

extern const StressorCard quiet{
    .name = "quiet",
    .summary = "no noise: the CPU sleeps",
    .cpus = StressorCard::Cpus::none,
    .make = [](const base::Settings&, const Place&) { return std::unique_ptr<Stressor>{}; },
};

}  // namespace noisegen
