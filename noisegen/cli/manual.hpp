// What noisegen says of itself beyond its options: schedules, stressors, exit codes, files, examples.
#pragma once

#include "base/cli/options.hpp"

namespace noisegen {

void add_manual(base::Options& options);

// Names and options, for completion.
base::PlugInWords words_of_stressors();

}  // namespace noisegen
