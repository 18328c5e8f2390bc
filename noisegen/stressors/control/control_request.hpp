// SPDX-License-Identifier: Apache-2.0
// Requests of control.delay and control.sham to the training, through the control file.
#pragma once

#include "base/contract/control_file.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <memory>

namespace noisegen {

// Makes the request during each slot. An operation is a step that read the request. A request expires at the slot's
// end, or 20 ms after noisegen was killed.
std::unique_ptr<Stressor> asking_for(base::ControlRequest request, const Place& place);

}  // namespace noisegen
