// SPDX-License-Identifier: Apache-2.0
// Words shared by `crosstalk run`, the job that it starts and the analysis.
#pragma once

namespace base {

// Value of --warmup of interference and of "warmup" in request.json: the warm-up is all steps that end before the
// noise's first slot begins.
inline constexpr const char* warm_up_until_noise = "noise";

// Values of --evidence of crosstalk run and of "evidence" in request.json.
namespace evidence_word {
inline constexpr const char* by_rights = "auto";
inline constexpr const char* cheap = "cheap";
inline constexpr const char* off = "off";
}  // namespace evidence_word

}  // namespace base

namespace base::file {

// DIR/log/marks-steps exists if a process of the job has loaded libcrosstalk-mark.so, which marks its steps.
inline constexpr const char* marks_steps = "marks-steps";

}  // namespace base::file
