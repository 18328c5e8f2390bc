// An OTF2 archive of a trace of PyTorch's profiler.
#pragma once

#include "trace-tools/convert/kineto.hpp"

#include <cstddef>
#include <filesystem>

namespace convert {

struct Nested {
    std::size_t moved = 0;  // to a further row, since they overlap others of their row without lying in them
    std::size_t cut = 0;    // at the end of what they overlap, since all further rows were taken
};

// Processes become location groups, threads and streams locations; devices become accelerators of the process that
// launches their kernels. A slice keeps its correlation, External id, bytes and flows as attributes. Sorts the slices.
// Throws Error and leaves nothing.
Nested write_archive(KinetoTrace& trace, const std::filesystem::path& directory);

}  // namespace convert
