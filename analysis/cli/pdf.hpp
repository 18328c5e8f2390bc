// SPDX-License-Identifier: Apache-2.0
// Prints a page as a PDF, by a browser without a window.
#pragma once

#include <filesystem>
#include <string>

namespace analysis {

// Name of the installed Chromium. Throws Unavailable if none of its usual names is found.
std::string pdf_browser();

// Throws Error if the browser makes no PDF of the page.
void print_pdf(const std::string& browser, const std::filesystem::path& page, const std::filesystem::path& pdf);

}  // namespace analysis
