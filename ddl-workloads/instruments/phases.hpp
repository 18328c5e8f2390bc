// SPDX-License-Identifier: Apache-2.0
// Makes the phases of a training step available in namespace ddl.
#pragma once

#include "trace-tools/training/phase_clock.hpp"

namespace ddl {

using base::text;
using training::Phase;
using training::PhaseClock;
using training::phases;
using training::StepTimes;

}  // namespace ddl
