// SPDX-License-Identifier: Apache-2.0
// Environment variables that several programs share. The Python module has copies of the names it uses.
#pragma once

namespace base::variable {

inline constexpr const char* run = "CROSSTALK_OUT";          // directory of the run that a job records into
inline constexpr const char* command = "CROSSTALK_COMMAND";  // command line that started the job, for people
inline constexpr const char* control_delay = "CROSSTALK_CONTROL_DELAY";  // delay for that job: "4ms" or "5%" of a step
inline constexpr const char* trace_gpu = "CROSSTALK_TRACE_GPU";          // 1: GPU activity is recorded, too
inline constexpr const char* mark_library = "CROSSTALK_MARK_LIBRARY";    // path of libcrosstalk-mark.so, for Python
inline constexpr const char* harvest = "CROSSTALK_HARVEST";      // file in which a neighbour's job counts its work
inline constexpr const char* neighbour = "CROSSTALK_NEIGHBOUR";  // marks all processes of a neighbour's job

}  // namespace base::variable
