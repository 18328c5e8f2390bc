// SPDX-License-Identifier: Apache-2.0
// Results of a run for other programs: its status for a campaign, and exports of its verdicts.
#pragma once

#include "crosstalk/run/request/request.hpp"

#include <string>

namespace crosstalk {

// Writes status.json: the outcome, and the main results of the report. If `reason` is empty, `code` is interference's
// exit code.
void write_status(const Request& request, int code, const std::string& reason);

// Writes the files of --export-*: verdict.json, effects.csv, and the verdicts as a Markdown table and as JUnit tests.
void export_results(const Request& request);

// For a run without a report: writes only the JUnit tests, one of which fails with the reason.
void export_failure(const Request& request, const std::string& why);

}  // namespace crosstalk
