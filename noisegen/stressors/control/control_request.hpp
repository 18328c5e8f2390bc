// SPDX-License-Identifier: Apache-2.0
// Asking the training, through the control file, for what control.* wants of its steps, or job.* of its background
// work.
#pragma once

#include "base/contract/control_file.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <memory>

namespace noisegen {

// Asks during each slot, with the value that belongs to the request. An operation is a step that looked (control.*), or
// a slot whose work the training has taken up (job.*). Ends with the slot, and 20 ms after noisegen was killed.
std::unique_ptr<Stressor> asking_for(base::ControlRequest request, const Place& place, std::uint32_t value = 0);

}  // namespace noisegen
