// SPDX-License-Identifier: Apache-2.0
// Traces that PyTorch's profiler exports: the Chrome trace JSON of Kineto.
#pragma once

#include "trace-tools/convert/kineto_trace.hpp"

#include <filesystem>

namespace convert {

// Complete events ('X'), begins and ends ('B', 'E'), flows ('s', 't', 'f') and the names of processes and threads, to
// the nanosecond; a file that is compressed with gzip, too. Memory grows with the events, not with their text. Throws
// Error, one clear line, for what is no whole JSON, has no such event, or one whose time makes no sense.
KinetoTrace read_kineto(const std::filesystem::path& file);

}  // namespace convert
