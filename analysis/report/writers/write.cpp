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

void write_texts(const std::filesystem::path& folder, const Content& content, const std::string& text,
                 const nlohmann::ordered_json& verdict)
{
    std::ostringstream markdown;
    write_markdown(markdown, content);
    base::write_whole(folder / report_file("text"), text);
    base::write_whole(folder / report_file("md"), markdown.str());
    base::write_whole(folder / report_file("json"), base::json_text(tidy_json(content)) + "\n");
    base::write_whole(folder / base::file::verdict, base::json_text(verdict) + "\n");
    base::write_whole(folder / base::file::summary,
                      base::json_text(summary_json(content.report.verdict), base::one_line) + "\n");
    base::write_whole(folder / base::file::run_record, base::json_text(content.report.own_record) + "\n");
}

void write_report(const std::filesystem::path& wanted, const Report& report)
{
    base::WholeDirectory directory{wanted};
    const std::filesystem::path& folder = directory.path();
    const Content content = content_of(report);
    for (const Table& table : content.sections.tables) table.write(folder / table.file, report);
    const SectionPage page = section_page(folder, report);
    base::end_if_stopped();
    base::write_whole(folder / "index.html", html(content, page, folder));
    std::ostringstream text;
    print(text, content);
    write_texts(folder, content, text.str(), verdict_json(content));
    directory.finish();
}

}  // namespace analysis
