// SPDX-License-Identifier: Apache-2.0
// Asking the training, through the control file, for what control.delay and control.sham want of its steps.
#pragma once

#include "base/contract/control_file.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <memory>

namespace noisegen {

// Asks during each slot. An operation is a step that looked. Ends with the slot, and 20 ms after noisegen was killed.
std::unique_ptr<Stressor> asking_for(base::ControlRequest request, const Place& place);

}  // namespace noisegen
