// crosstalk campaign plan, run, status, stop, collect.
#pragma once

#include "base/cli/commands.hpp"

namespace crosstalk {

base::Commands campaign_commands();

}  // namespace crosstalk
