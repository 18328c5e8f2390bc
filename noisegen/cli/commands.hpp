// The words that may stand first on the command line, and their options: noisegen calibrate, limits, probe, alter,
// difference.
#pragma once

#include "base/cli/commands.hpp"

namespace noisegen {

base::Commands commands();

}  // namespace noisegen
