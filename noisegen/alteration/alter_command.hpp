// noisegen alter and noisegen difference: their options.
#pragma once

#include "base/cli/commands.hpp"

#include <memory>

namespace noisegen {

std::unique_ptr<base::Command> alter_command();
std::unique_ptr<base::Command> difference_command();

}  // namespace noisegen
