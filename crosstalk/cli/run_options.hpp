// SPDX-License-Identifier: Apache-2.0
// Options that both crosstalk run and crosstalk try have.
#pragma once

#include "base/cli/options.hpp"
#include "crosstalk/run/request/request.hpp"

#include <string>

namespace crosstalk {

// Adds options that say where the steps are in a job that does not mark them.
void add_step_options(base::Options& options, Request& request);

// Accepts "1%" or "1", like interference, but checks it before the run rather than after it. Throws UsageError.
void check_budget(const std::string& text);

// Parses "2m 30s", "150s" or "150" (seconds). Throws UsageError unless the time is positive.
base::Nanoseconds read_time(const char* option, const std::string& text);

}  // namespace crosstalk
