// SPDX-License-Identifier: Apache-2.0
// Options of GPU stressors: the GPU, and the memory on it that must stay free.
#pragma once

#include "noisegen/stressors/stressor.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace noisegen {

// Adds the options `device` and `spare` to a stressor's own.
std::vector<base::OptionCard> with_gpu(std::vector<base::OptionCard> own);

// The demand by these options for `memory` bytes of the GPU. Throws UsageError.
GpuNeeds gpu_needs(const base::Settings& settings, const std::string& stressor, base::Bytes memory);

// The option `size` of a stressor: at least 1MiB. Throws UsageError.
base::Bytes gpu_buffer(const base::Settings& settings, const std::string& stressor);

// Number of the GPU in this process, as CUDA_VISIBLE_DEVICES numbers them. auto: the first GPU that the training of
// `control_run` recorded, else 0. Throws Unavailable without any GPU, UsageError without a GPU of that number.
int gpu_number(const std::string& device, const std::filesystem::path& control_run);

}  // namespace noisegen
