// SPDX-License-Identifier: Apache-2.0
// A report and all that is said of it, computed once; the writers only format it.
#pragma once

#include "analysis/results/findings.hpp"
#include "analysis/results/plots/palette.hpp"
#include "analysis/sections/section.hpp"

#include <map>
#include <string>

namespace analysis {

using Colours = std::map<std::string, Colour>;  // by factor

struct Content {
    const Report& report;
    Findings found;
    SectionTexts sections;
    Colours colours;
};

inline Content content_of(const Report& report)
{
    return {report, findings(report), section_texts(report), colours_by_factor(report.run.plan)};
}

}  // namespace analysis
