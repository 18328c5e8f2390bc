// What a report of `interference` found, as markers on the time line of a merged archive.
#pragma once

#include <cstddef>
#include <filesystem>

namespace merge {

// Writes traces.marker beside the anchor: for each slot of the noise's schedule and each effect of its factor that is
// significant (Holm, 5 %) or that the verdict calls unsafe, on the location of the rank's steps, or everywhere for an
// effect on the whole job, from the first to the last used step that the factor covered for at least half of its
// length. Their group says whether the report is not trustworthy. Returns how many. Throws Error for a report that is
// not whole or not of this training. noise_processes: of the archive, the first ones.
std::size_t write_markers(const std::filesystem::path& anchor, const std::filesystem::path& report,
                          std::size_t noise_processes);

}  // namespace merge
