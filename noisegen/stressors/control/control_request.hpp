// SPDX-License-Identifier: Apache-2.0
// Requests of control.* and job.* stressors to the training, through the control file: a delay in its steps, or
// background work.
#pragma once

#include "base/contract/control_file.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <memory>

namespace noisegen {

// A stressor that sets this request, with its parameter `value`, during each of its slots. Operations are the steps
// that read it (control.*), or the slots whose work the training started (job.*). The request expires at the end of the
// slot, or 20 ms after noisegen was killed.
std::unique_ptr<Stressor> asking_for(base::ControlRequest request, const Place& place, std::uint32_t value = 0);

}  // namespace noisegen
