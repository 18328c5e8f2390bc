// SPDX-License-Identifier: Apache-2.0
// Which GPU a stressor works on, and how much of its memory it leaves alone.
#pragma once

#include "noisegen/stressors/stressor.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace noisegen {

// The options `device` and `spare` behind a stressor's own.
std::vector<base::OptionCard> with_gpu(std::vector<base::OptionCard> own);

// Demand of these options, with `memory` of the GPU. Throws UsageError.
GpuNeeds gpu_needs(const base::Settings& settings, const std::string& stressor, base::Bytes memory);

// The option `size` of a stressor: from 1MiB on. Throws UsageError.
base::Bytes gpu_buffer(const base::Settings& settings, const std::string& stressor);

// The GPU by its number in this process, which CUDA_VISIBLE_DEVICES decides. auto: the first one that the training of
// `control_run` says it has, else 0. Throws Unavailable where there is no GPU, UsageError where there is none of that
// number.
int gpu_number(const std::string& device, const std::filesystem::path& control_run);

}  // namespace noisegen
