// SPDX-License-Identifier: Apache-2.0
// Results of a run for others: its status for a campaign, its verdicts as a table.
#pragma once

#include "crosstalk/run/request/request.hpp"

#include <string>

namespace crosstalk {

// status.json: how it went, and what the report says in short. An empty reason: the code is interference's.
void write_status(const Request& request, int code, const std::string& reason);

// --export-*: verdict.json, effects.csv, and the verdicts as a Markdown table and as tests.
void export_results(const Request& request);

// The same of a run that did not get to its report, or to a new one: only the tests, one of which says why.
void export_failure(const Request& request, const std::string& why);

}  // namespace crosstalk
