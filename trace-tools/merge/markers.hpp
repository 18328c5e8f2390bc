// SPDX-License-Identifier: Apache-2.0
// Findings of an `interference` report, as markers on the time line of a merged archive.
#pragma once

#include <cstddef>
#include <filesystem>

namespace merge {

enum class Marked {
    beyond_budget,  // effects on the whole job's step that the verdict calls unsafe, or significant beyond the budget
    all             // every effect, phases and single ranks included, that is significant or that is called unsafe
};

// Writes traces.marker beside the anchor: for each slot of the noise's schedule and each effect of its factor that is
// to be marked (significant: Holm, 5 %), on the location of the rank's steps, or everywhere for an effect on the whole
// job, from the first to the last used step that the factor covered for at least half of its length. Their group says
// whether the report is not trustworthy. Returns how many. Throws Error for a report that is not whole or not of this
// training. others: processes of the archive before the training's.
std::size_t write_markers(const std::filesystem::path& anchor, const std::filesystem::path& report, std::size_t others,
                          Marked marked);

}  // namespace merge
