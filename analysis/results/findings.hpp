// SPDX-License-Identifier: Apache-2.0
// Statements of a report, without markup: sentences, checks and tables. Each is computed from the report.
#pragma once

#include "analysis/results/identity.hpp"
#include "analysis/results/report.hpp"
#include "analysis/results/verdict_text.hpp"
#include "base/page/page.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// The statements that all forms of a report share, computed once: writers only format them.
struct Findings {
    Identity run;
    std::string headline;                 // the answer in one line
    std::string measured;                 // on the measurement
    std::string scope;                    // what the intervals cover
    std::vector<std::string> outlooks{};  // of each noise with a verdict; empty unless it is open
    std::optional<Again> again;           // how to measure further
    double price_of_looking = 1.0;        // 1: the run was not looked at
};
Findings findings(const Report& report);

// Evidence for or against trust in the run. A control whose interval includes both its truth and zero has tested
// nothing.
struct Check {
    base::page::Grade grade = base::page::Grade::held;
    std::string short_name;  // "Placebo"
    std::string name;
    std::string value;
    std::string meaning;
};
// Checks by the controls, and whether noise covered the training; also for several runs.
std::vector<Check> control_checks(const Report& report);
std::vector<Check> checks(const Report& report);

// A sentence on the part of the control delay that GPUs absorb: "Of the control delay 60 % (40 to 80 %) is not in the
// step: ..". Empty without a GPU or a delay.
std::string absorption(const Report& report);

// Number of steps that were searched for outliers.
std::size_t steps_looked_at(const Analysis& analysis);

// A sentence on used steps: "512 steps used; left out: 10 (warm-up)."
std::string steps_used(const Analysis& analysis);

// A member of a record, named for readers: "processor", "AMD EPYC 9654".
struct Fact {
    std::string name;
    std::string value;
};
std::vector<Fact> facts(const nlohmann::ordered_json& record);

// Work that the noise did at a level, from its own record, as text; empty where it is not recorded.
struct LevelDone {
    std::string factor;
    std::string level;
    std::string stressor;
    std::string slots;
    std::string moved;       // "3.21 GB/s"
    std::string operations;  // "120.00 /s"
};
std::vector<LevelDone> levels_done(const nlohmann::ordered_json& record);

// Conclusions that the report does not support, one sentence each.
std::vector<std::string> not_said(const Report& report);

}  // namespace analysis
