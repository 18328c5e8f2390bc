// SPDX-License-Identifier: Apache-2.0
// Writes findings of an `interference` report as markers on the time line of a merged archive.
#pragma once

#include <cstddef>
#include <filesystem>

namespace merge {

enum class Marked {
    beyond_budget,  // effects on the whole job's step that are called unsafe, or significant and over the budget
    all             // all effects that are significant or called unsafe, those on phases and single ranks included
};

// Writes traces.marker next to the anchor: a marker for each slot of the noise schedule and each effect of its factor
// that is to be marked (significant: 5 % after Holm's correction). It spans the first to the last used step that the
// factor covered for at least half of the step's length, on the location of the rank's steps, or globally for an effect
// on the whole job. The markers' group says if the report is not trustworthy. `others`: number of processes that
// precede the training's in the archive. Returns the number of markers. Throws Error if the report is incomplete or
// belongs to another training, or if the archive's clock does not count nanoseconds.
std::size_t write_markers(const std::filesystem::path& anchor, const std::filesystem::path& report, std::size_t others,
                          Marked marked);

}  // namespace merge
