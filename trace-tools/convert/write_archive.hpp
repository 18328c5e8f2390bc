// SPDX-License-Identifier: Apache-2.0
// Converts a trace of PyTorch's profiler to an OTF2 archive.
#pragma once

#include "trace-tools/convert/kineto.hpp"
#include "trace-tools/gpu/recording/lanes.hpp"

#include <filesystem>

namespace convert {

// Processes become location groups; threads and streams become locations; devices become accelerators of the process
// that launches their kernels. Slices keep correlation, External id, bytes and flows as attributes. Sorts the slices.
// On failure throws Error and leaves nothing behind.
gpu::Nested write_archive(KinetoTrace& trace, const std::filesystem::path& directory);

}  // namespace convert
