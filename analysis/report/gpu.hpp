// What the noise did to the GPUs: shown only where the training's archive has any.
#pragma once

#include "analysis/report/findings.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

std::vector<NoiseTable> gpu_tables(const Report& report);

// "Of the control delay 60 % (40 to 80 %) is not in the step: .." Empty without a GPU or a delay.
std::string absorption(const Report& report);

// gpu_effects.csv and gpu_steps.csv. Returns their names.
std::vector<std::string> gpu_files(const Report& report);
void write_gpu_tables(const std::filesystem::path& folder, const Report& report);

}  // namespace analysis
