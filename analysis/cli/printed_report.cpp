// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/printed_report.hpp"

#include "analysis/cli/pdf.hpp"
#include "analysis/report/writers/write.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"

#include <iostream>

namespace analysis {

void show(const std::filesystem::path& out, const Settings& settings, const Shown& shown)
{
    const std::filesystem::path page = out / "index.html";
    if (settings.format == "md")
        shown.markdown();
    else if (settings.format == "json")
        std::cout << json_text(shown.json());
    else if (settings.format == "html")
        std::cout << base::read_whole(page);
    else {
        shown.text();
        std::cout << "\nreport: " << base::printable(page.string()) << "\n";
    }
    base::flush_stdout();
}

void show_again(const std::filesystem::path& out, const Settings& settings)
{
    const std::filesystem::path file = out / report_file(settings.format);
    if (!std::filesystem::exists(file))
        base::fail_usage(file.string(),
                         " is missing: the report is of an older version; make a new one with --out DIR");
    if (settings.pdf) print_pdf(pdf_browser(), out / report_file("html"), out / "report.pdf");
    std::cout << base::read_whole(file);
    if (settings.format == "text") std::cout << "\nreport: " << base::printable((out / "index.html").string()) << "\n";
    base::flush_stdout();
}

}  // namespace analysis
