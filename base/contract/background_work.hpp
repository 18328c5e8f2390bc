// SPDX-License-Identifier: Apache-2.0
// Names of noise that asks the training for background work of its own.
#pragma once

namespace base {

inline constexpr const char* job_checkpoint = "job.checkpoint";

}  // namespace base
