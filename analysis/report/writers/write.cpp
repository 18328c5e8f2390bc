// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/write.hpp"

#include "analysis/report/writers/html.hpp"
#include "analysis/report/writers/json.hpp"
#include "analysis/report/writers/text.hpp"
#include "base/contract/run_directory.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/stop.hpp"

#include <nlohmann/json.hpp>

#include <sstream>

namespace analysis {

std::string report_file(const std::string& format)
{
    if (format == "html") return "index.html";
    return "report." + (format == "text" ? "txt" : format);
}

void write_printed(const std::filesystem::path& folder, const Report& report, const Findings& found,
                   const std::string& text)
{
    std::ostringstream markdown;
    write_markdown(markdown, report, found);
    base::write_whole(folder / report_file("text"), text);
    base::write_whole(folder / report_file("md"), markdown.str());
    base::write_whole(folder / report_file("json"), base::json_text(tidy_json(report, found)) + "\n");
}

void write_report(const std::filesystem::path& wanted, const Report& report)
{
    base::WholeDirectory directory{wanted};
    const std::filesystem::path& folder = directory.path();
    for (const Table& table : tables(report)) table.write(folder / table.file, report);
    base::write_whole(folder / base::file::run_record, base::json_text(report.own_record) + "\n");
    const std::vector<Plot> plots = of_sections(&Section::plots, folder, report);
    base::end_if_stopped();
    const Findings found = findings(report);
    base::write_whole(folder / "index.html", html(report, found, plots, folder));
    std::ostringstream text;
    print(text, report, found);
    write_printed(folder, report, found, text.str());
    base::write_whole(folder / base::file::verdict, base::json_text(verdict_json(report, found)) + "\n");
    base::write_whole(folder / base::file::summary, base::json_text(summary_json(report), base::one_line) + "\n");
    directory.finish();
}

}  // namespace analysis
