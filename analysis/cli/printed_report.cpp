// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/printed_report.hpp"

#include "analysis/cli/pdf.hpp"
#include "analysis/report/writers/write.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"

#include <iostream>

namespace analysis {

void print_report(const std::filesystem::path& out, const Settings& settings)
{
    const std::string text = base::read_whole(out / report_file(settings.format));
    if (settings.format == "text")
        std::cout << base::printable_lines(text) << "\nreport: " << base::printable((out / "index.html").string())
                  << "\n";
    else
        std::cout << text;
    base::flush_stdout();
}

void print_again(const std::filesystem::path& out, const Settings& settings)
{
    const std::filesystem::path file = out / report_file(settings.format);
    if (!std::filesystem::exists(file))
        base::fail_usage(file.string(),
                         " is missing: the report is of an older version; make a new one with --out DIR");
    if (settings.pdf) print_pdf(pdf_browser(), out / report_file("html"), out / "report.pdf");
    print_report(out, settings);
}

}  // namespace analysis
