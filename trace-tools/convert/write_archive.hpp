// SPDX-License-Identifier: Apache-2.0
// An OTF2 archive of a trace of PyTorch's profiler.
#pragma once

#include "trace-tools/convert/kineto.hpp"
#include "trace-tools/gpu/recording/lanes.hpp"

#include <filesystem>

namespace convert {

// Processes become location groups, threads and streams locations; devices become accelerators of the process that
// launches their kernels. A slice keeps its correlation, External id, bytes and flows as attributes. Sorts the slices.
// Throws Error and leaves nothing.
gpu::Nested write_archive(KinetoTrace& trace, const std::filesystem::path& directory);

}  // namespace convert
