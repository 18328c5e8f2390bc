// SPDX-License-Identifier: Apache-2.0
// Variables of the environment by which programs that never meet understand each other. The Python module types those
// of its own.
#pragma once

namespace base::variable {

inline constexpr const char* run = "CROSSTALK_OUT";                      // directory of the run that a job records into
inline constexpr const char* command = "CROSSTALK_COMMAND";              // that started the job, for people
inline constexpr const char* control_delay = "CROSSTALK_CONTROL_DELAY";  // of that job: "5%" of a quiet step, "4ms"
inline constexpr const char* trace_gpu = "CROSSTALK_TRACE_GPU";          // 1: what the GPUs do is recorded, too
inline constexpr const char* mark_library = "CROSSTALK_MARK_LIBRARY";    // for Python
inline constexpr const char* harvest = "CROSSTALK_HARVEST";              // where a neighbour's job counts what it did
inline constexpr const char* neighbour = "CROSSTALK_NEIGHBOUR";          // mark of a neighbour's job, in all it starts

}  // namespace base::variable
