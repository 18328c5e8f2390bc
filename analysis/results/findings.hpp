// SPDX-License-Identifier: Apache-2.0
// Statements of a report, without markup.
#pragma once

#include "analysis/results/identity.hpp"
#include "analysis/results/next_run.hpp"
#include "analysis/results/node_placement.hpp"
#include "analysis/results/report.hpp"
#include "analysis/results/verdict_text.hpp"
#include "base/page/page.hpp"

#include <string>
#include <vector>

namespace analysis {

// Evidence for or against trust in the run. A control whose interval includes both its truth and zero has tested
// nothing.
struct Check {
    base::page::Grade grade = base::page::Grade::held;
    std::string short_name;  // "Placebo"
    std::string name;
    std::string value;
    std::string meaning;
};

// Statements that all forms of a report share, computed once: writers only format them.
struct Findings {
    Identity run;
    VerdictText text;
    NextRun next;
    std::vector<Check> control_checks;  // by the controls, and whether noise covered the training
    std::vector<Check> design_checks;   // of repetitions, order and outliers; only for a single run
    std::string absorption;             // see absorption()
    std::string steps_used;             // "512 steps used; left out: 10 (warm-up)."
    std::size_t steps_looked_at = 0;    // steps that were searched for outliers
    std::vector<NodePlaces> nodes;
    std::vector<std::string> not_said;  // conclusions that the report does not support, one sentence each
};
Findings findings(const Report& report);

// A sentence on the part of the control delay that GPUs absorb: "Of the control delay 60 % (40 to 80 %) is not in the
// step: ..". Empty without a GPU or a delay.
std::string absorption(const Report& report);

}  // namespace analysis
