// What a report tells beside its verdicts: response curves, what is left of the slot before, tails, power.
#pragma once

#include "analysis/report/findings.hpp"
#include "analysis/report/report.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// Estimates it, of a report whose verdict is there: fills Report::secondary, and adds the effects on tails to
// Analysis::effects.
void add_further(Report& report);

// The curves alone, of runs whose verdict is the report's: Report::secondary.
void add_curves(Report& report, const std::vector<RunOfCurve>& runs);

// A sentence each: one for every curve; these, and one on carry-over, one on power.
std::vector<std::string> curve_sentences(const Report& report);
std::vector<std::string> further_sentences(const Report& report);

// Tails and variability; carry-over, if it can be told.
std::vector<NoiseTable> further_tables(const Report& report);

// A dose as people read it: "6.02 GiB/s", in binary units where the levels have them.
std::string dose_text(const ResponseCurve& curve, double dose);

// response.csv and carry_over.csv.
void write_response(const std::filesystem::path& file, const Report& report);
void write_carry_over(const std::filesystem::path& file, const Report& report);

// Members of verdict.json: what a factor's curve says, and carry-over.
void add_curve(nlohmann::ordered_json& factor_json, const Report& report, const std::string& factor);
nlohmann::ordered_json carry_over_json(const Report& report);

}  // namespace analysis
