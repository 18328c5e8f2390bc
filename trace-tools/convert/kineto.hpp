// SPDX-License-Identifier: Apache-2.0
// Reads traces exported by PyTorch's profiler: the Chrome trace JSON of Kineto.
#pragma once

#include "trace-tools/convert/kineto_trace.hpp"

#include <filesystem>

namespace convert {

// Reads complete events ('X'), begins and ends ('B', 'E'), flows ('s', 't', 'f') and the names of processes and
// threads, with nanosecond resolution. The file may be compressed with gzip. Memory grows with the number of events,
// not with the size of their text. Throws Error with a one-line message if the JSON is incomplete, has no such event,
// or has an event with an impossible time.
KinetoTrace read_kineto(const std::filesystem::path& file);

}  // namespace convert
