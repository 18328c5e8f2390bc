// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/summary_command.hpp"

#include "analysis/report/summary/summary.hpp"
#include "analysis/report/writers/write.hpp"
#include "base/contract/run_record.hpp"
#include "base/files.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>

namespace analysis {

SummaryCommand::SummaryCommand()
    : Command{"interference summary",
              "reports of many runs side by side: a row a run, and how effects change over time"}
{
    options.add_positional("DIR", directories_, "run directories with reports, or the reports' own");
    options.add("out", out_, "tables, plot and page go there; must not be there yet; without it there are none", "DIR");
    options.add_choice("format", format_, {"text", "md", "json"},
                       "what is printed: a table for a terminal, Markdown for CI and wikis, or rows as JSON");
    options.epilogue("Directories without a report are named, and left out.");
    options.example("interference summary runs/* --out summary");
}

int SummaryCommand::run()
{
    if (!out_.empty() && std::filesystem::exists(out_)) base::fail_taken(out_);
    const Summary summary = summary_of(directories_);
    if (!out_.empty()) write_summary(out_, summary, base::run_record("interference"));
    if (format_ == "md")
        print_markdown(std::cout, summary);
    else if (format_ == "json")
        std::cout << json_text(json_of(summary));
    else {
        base::print_lines(std::cout, [&](std::ostream& text) { print(text, summary); });
        if (!out_.empty())
            std::cout << "\nsummary: " << base::printable((std::filesystem::path{out_} / "index.html").string())
                      << "\n";
    }
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace analysis
