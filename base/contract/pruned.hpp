// SPDX-License-Identifier: Apache-2.0
// DIR/pruned.json: what crosstalk prune has removed from a run, and when.
#pragma once

namespace base::file {

inline constexpr const char* pruned = "pruned.json";

}  // namespace base::file

namespace base::pruned {

// Members: format, version, when ("2026-11-21T05:44:58Z"), removed (paths in DIR), bytes, and can_analyse (true if
// train/steps.csv and the noise's archives suffice for interference analyse).
inline constexpr const char* when = "when";
inline constexpr const char* removed = "removed";
inline constexpr const char* bytes = "bytes";
inline constexpr const char* can_analyse = "can_analyse";

}  // namespace base::pruned
