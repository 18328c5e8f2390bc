// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/write.hpp"

#include "analysis/report/writers/html.hpp"
#include "analysis/report/writers/json.hpp"
#include "analysis/report/writers/text.hpp"
#include "analysis/results/verdict_text.hpp"
#include "base/contract/run_directory.hpp"
#include "base/files.hpp"
#include "base/system/stop.hpp"

#include <nlohmann/json.hpp>

#include <sstream>

namespace analysis {

std::string report_file(const std::string& format)
{
    if (format == "html") return "index.html";
    return "report." + (format == "text" ? "txt" : format);
}

std::string json_text(const nlohmann::ordered_json& json)
{
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void write_printed(const std::filesystem::path& folder, const Report& report, const std::string& scope,
                   const std::string& text)
{
    std::ostringstream markdown;
    write_markdown(markdown, report, scope);
    base::write_whole(folder / report_file("text"), text);
    base::write_whole(folder / report_file("md"), markdown.str());
    base::write_whole(folder / report_file("json"), json_text(tidy_json(report)));
}

void write_report(const std::filesystem::path& wanted, const Report& report)
{
    base::WholeDirectory directory{wanted};
    const std::filesystem::path& folder = directory.path();
    for (const Table& table : tables(report)) table.write(folder / table.file, report);
    base::write_whole(folder / base::file::run_record, json_text(report.own_record));
    const std::vector<Plot> plots = of_sections(&Section::plots, folder, report);
    base::end_if_stopped();
    base::write_whole(folder / "index.html", html(report, plots, folder));
    std::ostringstream text;
    print(text, report);
    write_printed(folder, report, scope(report), text.str());
    base::write_whole(folder / base::file::verdict, json_text(verdict_json(report)));
    base::write_whole(
        folder / base::file::summary,
        summary_json(report).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    directory.finish();
}

}  // namespace analysis
