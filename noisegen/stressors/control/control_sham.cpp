// SPDX-License-Identifier: Apache-2.0
// Makes the same requests to the training as control.delay, without the delay: the baseline of control.delay.
#include "noisegen/stressors/control/control_request.hpp"

namespace noisegen {

extern const StressorCard control_sham{
    .name = "control.sham",
    .summary = "baseline of control.delay: the same barriers and rests without a delay",
    .role = base::Role::sham,
    .cpus = StressorCard::Cpus::none,
    .make = [](const base::Settings&, const Place& place) -> std::unique_ptr<Stressor> {
        return asking_for(base::ControlRequest::sham, place);
    },
};

}  // namespace noisegen
