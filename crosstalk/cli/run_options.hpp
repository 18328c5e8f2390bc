// SPDX-License-Identifier: Apache-2.0
// Options that crosstalk run and crosstalk try share.
#pragma once

#include "base/cli/options.hpp"
#include "crosstalk/run/request/request.hpp"

#include <string>

namespace crosstalk {

// Options for the steps of a job that does not mark them.
void add_step_options(base::Options& options, Request& request);

// "1%", or "1" for the same; as interference reads it, but before the run and not after it. Throws UsageError.
void check_budget(const std::string& text);

// "2m 30s", "150", "150s": seconds where no unit is given. Throws UsageError for nothing, or less.
base::Nanoseconds read_time(const char* option, const std::string& text);

}  // namespace crosstalk
