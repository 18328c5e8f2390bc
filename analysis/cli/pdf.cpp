// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/pdf.hpp"

#include "base/error.hpp"
#include "base/page/parts.hpp"
#include "base/programs/child.hpp"
#include "base/system/temporary_directory.hpp"

#include <chrono>
#include <optional>
#include <system_error>

#include <unistd.h>

namespace analysis {

namespace {

namespace fs = std::filesystem;

constexpr const char* nowhere = "/dev/null";

}  // namespace

std::string pdf_browser()
{
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
        try {
            base::Child{{.words = {name, "--version"}, .output = nowhere, .errors = nowhere}}.wait();
            return name;
        } catch (const std::system_error&) {
            continue;  // not installed
        }
    }
    base::unavailable("--pdf needs chromium, which is not on PATH; or print index.html in a browser");
}

void print_pdf(const std::string& browser, const fs::path& page, const fs::path& pdf)
{
    constexpr std::chrono::minutes patience{2};
    const base::TemporaryDirectory own{"crosstalk-browser"};  // profile of the browser
    base::Launch launch{
        .words = {browser, "--headless", "--disable-gpu", "--no-pdf-header-footer",
                  "--user-data-dir=" + own.path().string(), "--print-to-pdf=" + fs::absolute(pdf).string()},
        .output = nowhere,
        .errors = nowhere};
    if (::geteuid() == 0) launch.words.emplace_back("--no-sandbox");  // needed by root
    launch.words.push_back("file://" + base::page::url_path(fs::absolute(page)));
    const std::optional<int> code = base::Child{launch}.wait(patience);
    if (code != 0 || !fs::exists(pdf)) base::fail(browser, " made no ", pdf.string(), " of ", page.string());
}

}  // namespace analysis
