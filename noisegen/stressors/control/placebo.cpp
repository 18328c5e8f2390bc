// SPDX-License-Identifier: Apache-2.0
// Does nothing, under a name of its own: the built-in negative control. An analysis that finds an effect here is wrong.
#include "noisegen/stressors/stressor.hpp"

namespace noisegen {

extern const StressorCard placebo{
    .name = "placebo",
    .summary = "negative control: does nothing, but counts as a factor",
    .role = base::Role::placebo,
    .cpus = StressorCard::Cpus::none,
    .make = [](const base::Settings&, const Place&) { return std::unique_ptr<Stressor>{}; },
};

}  // namespace noisegen
