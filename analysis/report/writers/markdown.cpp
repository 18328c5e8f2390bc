// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/text.hpp"
#include "analysis/results/numbers.hpp"
#include "base/contract/factor_name.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

namespace analysis {

namespace {

using base::join;
using MarkdownRows = std::vector<std::vector<std::string>>;

std::string in_code(const std::string& text)
{
    std::string ticks = "`";
    while (text.find(ticks) != std::string::npos) ticks += "`";
    const bool padded = text.starts_with('`') || text.ends_with('`');
    return join(ticks, padded ? " " : "", base::printable(text), padded ? " " : "", ticks);
}

void add_control(MarkdownRows& rows, const char* name, const std::optional<Control>& control, const std::string& truth)
{
    if (!control) return;
    rows.push_back({name, signed_percent(control->percent.value), range(control->interval), truth,
                    !control->judged ? "not judged"
                    : control->holds ? "holds"
                                     : "**does not hold**"});
}

void write_controls(std::ostream& out, const Verdict& verdict, const VerdictText& text)
{
    MarkdownRows rows;
    add_control(rows, "placebo", verdict.placebo, "0 %");
    add_control(rows, "control delay", verdict.delay, text.delay_truth);
    add_control(rows, "control pause", verdict.pause, text.pause_truth);
    if (rows.empty()) return;
    out << "\n### Controls\n\n" << markdown_table({"Control", "Measured", "Interval", "True value", ""}, rows);
}

void write_noises(std::ostream& out, const Verdict& verdict, const std::vector<std::string>& outlooks)
{
    MarkdownRows rows;
    for (const FactorVerdict& factor : verdict.factors)
        rows.push_back({plain_markdown(base::factor_name(factor.factor, factor.level)),
                        signed_percent(factor.percent.value), range(factor.interval), "**" + factor.verdict + "**",
                        plain_markdown(factor.cause.phase.empty() ? "-" : factor.cause.phase),
                        plain_markdown(factor.setting.text)});
    if (rows.empty()) return;
    out << "\n### What may run beside this training\n\n"
        << markdown_table({"Noise", "Slowdown of a step", join(100.0 * verdict.confidence, " % interval"),
                           join("Budget ", verdict.budget_percent, " %"), "Most in", "Setting to act on"},
                          rows);
    for (std::size_t i = 0; i < outlooks.size(); ++i)
        if (const FactorVerdict& factor = verdict.factors[i]; !outlooks[i].empty())
            out << "\n"
                << plain_markdown(join(base::factor_name(factor.factor, factor.level), ": ", outlooks[i])) << "\n";
}

}  // namespace

std::string plain_markdown(std::string_view text)
{
    std::string plain;
    for (const char c : base::printable(text)) {
        if (c == '<') {
            plain += "&lt;";
            continue;
        }
        if (c == '&') {
            plain += "&amp;";
            continue;
        }
        if (std::string_view{"\\`*_[]|#~"}.find(c) != std::string_view::npos) plain += '\\';
        plain += c;
    }
    return plain;
}

std::string markdown_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows)
{
    const auto line = [](const std::vector<std::string>& cells) {
        return "| " + base::join_words(cells, " | ") + " |\n";
    };
    std::string text = line(head) + line(std::vector<std::string>(head.size(), "---"));
    for (const std::vector<std::string>& row : rows) text += line(row);
    return text;
}

void write_markdown(std::ostream& out, const Content& content)
{
    const Report& report = content.report;
    const Findings& found = content.found;
    const Verdict& verdict = report.verdict;
    out << "## " << plain_markdown(found.text.headline) << "\n\n"
        << plain_markdown(text(found.run)) << "  \n"
        << plain_markdown(found.text.measured) << "\n\n"
        << (verdict.trustworthy ? "Trustworthy: controls came out as known, and noise covered the training.\n"
            : verdict.observed  ? "What could confound:\n\n"
                                : "**Not trustworthy: do not act on the numbers below.**\n\n");
    for (const std::string& reason : verdict.reasons) out << "- " << plain_markdown(reason) << "\n";
    write_noises(out, verdict, found.next.outlooks);
    write_controls(out, verdict, found.text);
    for (const SectionList& list : content.sections.markdown) {
        if (!list.items.empty()) out << "\n### " << list.title << "\n\n";
        for (const std::string& item : list.items) out << "- " << plain_markdown(item) << "\n";
    }
    if (!report.limits.empty()) out << "\n### What limits this run\n\n";
    for (const std::string& limit : report.limits) out << "- " << plain_markdown(limit) << "\n";
    if (const std::optional<Again>& again = found.next.again)
        out << "\n" << plain_markdown(again->what) << ": " << in_code(again->command) << "\n";
    out << "\n" << plain_markdown(found.text.scope) << "\n";
}

}  // namespace analysis
