// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/text.hpp"
#include "analysis/results/numbers.hpp"
#include "base/contract/factor_name.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace analysis {

namespace {

std::string padded(const std::string& text, std::size_t width)
{
    return text + std::string(text.size() < width ? width - text.size() : 1, ' ');
}

std::string name_of(const FactorVerdict& factor)
{
    return base::factor_name(factor.factor, factor.level);
}

void print_control(std::ostream& out, const char* name, const std::optional<Control>& control, const std::string& truth)
{
    out << "  " << name;
    if (control)
        out << signed_percent(control->percent.value) << " (" << range(control->interval) << "), true value " << truth
            << (control->judged && control->connected && control->holds && !control->found ? ", not found as such" : "")
            << "\n";
    else
        out << "not in the schedule\n";
}

// Steps left out, except outliers: "10 (warm-up, 0.31 s), 4 (not covered by noise, 0.12 s)". Times are rank 0's, and
// only given for a single run. Empty if there are none.
std::string steps_left_out(const Report& report)
{
    const std::vector<LeftOut>& left_out = report.analysis.exposures.left_out;
    std::map<LeftOut, std::int64_t> ns;
    for (std::size_t i = 0; i < left_out.size(); ++i) {
        const RankSteps& rank = report.run.steps.ranks.front();
        ns[left_out[i]] += rank.end_ns[i] - rank.begin_ns[i];
    }
    const auto seconds = [&](LeftOut reason) {
        return left_out.empty() ? "" : base::join(", ", fixed(static_cast<double>(ns[reason]) / 1e9, 2), " s");
    };
    std::vector<std::string> parts;
    for (const auto& [reason, count] : report.analysis.counts)
        if (reason != LeftOut::no && reason != LeftOut::outlier && count > 0)
            parts.push_back(base::join(count, " (", text(reason), seconds(reason), ")"));
    return base::join_words(parts, ", ");
}

}  // namespace

void print(std::ostream& out, const Content& content)
{
    const Report& report = content.report;
    const Findings& found = content.found;
    const Verdict& verdict = report.verdict;
    const std::string confidence = base::join(100.0 * verdict.confidence, " %");
    out << (verdict.observed      ? "OBSERVED, no verdict"
            : verdict.trustworthy ? "TRUSTWORTHY"
                                  : "NOT TRUSTWORTHY")
        << ": quiet step " << fixed(verdict.quiet_step_ms, 2) << " ms, "
        << counted(static_cast<std::size_t>(report.analysis.blocks), "block") << ", "
        << counted(report.analysis.counts.at(LeftOut::no), "step") << " used, "
        << counted(report.analysis.long_steps.count(), "outlier") << ", noise scheduled over "
        << fixed(100.0 * report.analysis.covered_share, 1) << " % of the training after warm-up\n";
    out << "  " << text(found.run) << "\n";
    if (const std::string left_out = steps_left_out(report); !left_out.empty())
        out << "  left out: " << left_out << "\n";
    for (const std::string& reason : verdict.reasons) out << "  because " << reason << "\n";
    if (!verdict.observed) print_control(out, "placebo        ", verdict.placebo, "0 %");
    if (verdict.delay || !(verdict.pause || verdict.observed))
        print_control(out, "control delay  ", verdict.delay, found.text.delay_truth);
    if (verdict.pause)
        print_control(out, "control pause  ", verdict.pause,
                      found.text.pause_truth + (verdict.pause->judged ? "" : " (not judged)"));
    if (verdict.sham)
        out << "  control sham   " << signed_percent(verdict.sham->percent.value) << " ("
            << range(verdict.sham->interval)
            << "): the cost of the delay's barriers, in its slots and the sham's only\n";
    if (!found.absorption.empty()) out << "  " << found.absorption << "\n";
    if (verdict.looks != Looks::none)
        out << "  checked repeatedly while it ran (--until decided): intervals are valid at every check, and "
            << fixed(found.text.price_of_looking, 2) << " times as wide as for a length fixed beforehand\n";
    for (const std::string& limit : report.limits) out << "  limited: " << limit << "\n";

    std::size_t width = 8;
    for (const FactorVerdict& factor : verdict.factors) width = std::max(width, name_of(factor).size() + 2);
    out << "\n"
        << padded("noise", width) << padded("slowdown", 11) << padded(confidence + " interval", 22)
        << padded(base::join("budget ", verdict.budget_percent, " %"), 14) << "most in\n";
    for (const FactorVerdict& factor : verdict.factors)
        out << padded(name_of(factor), width) << padded(signed_percent(factor.percent.value), 11)
            << padded(range(factor.interval), 22) << padded(factor.verdict, 14)
            << (factor.cause.phase.empty() ? "-" : factor.cause.phase) << "\n";
    for (std::size_t i = 0; i < found.next.outlooks.size(); ++i)
        if (!found.next.outlooks[i].empty())
            out << name_of(verdict.factors[i]) << ": " << found.next.outlooks[i] << "\n";
    for (const std::string& line : content.sections.terminal) out << base::printable(line) << "\n";
    if (const std::optional<Again>& again = found.next.again; again && again->half_width_percent)
        out << again->what << ": " << base::printable(again->command) << "\n";
}

}  // namespace analysis
