// SPDX-License-Identifier: Apache-2.0
// Asks the training for a delay of known length in each step: the built-in positive control. An analysis that does not
// find the delay is wrong.
#include "noisegen/stressors/control/control_request.hpp"

namespace noisegen {

extern const StressorCard control_delay{
    .name = "control.delay",
    .summary =
        "positive control: the training delays itself by a known time (ddl-train --control-delay); an operation is "
        "a step that read the request",
    .role = base::Role::delay,
    .cpus = StressorCard::Cpus::none,
    .make = [](const base::Settings&, const Place& place) -> std::unique_ptr<Stressor> {
        return asking_for(base::ControlRequest::delay, place);
    },
};

}  // namespace noisegen
