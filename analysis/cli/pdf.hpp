// SPDX-License-Identifier: Apache-2.0
// A page as a PDF, printed by a browser without a window.
#pragma once

#include <filesystem>
#include <string>

namespace analysis {

// Chromium under one of its names. Throws Unavailable where there is none.
std::string pdf_browser();

// Throws Error if the browser makes no PDF of the page.
void print_pdf(const std::string& browser, const std::filesystem::path& page, const std::filesystem::path& pdf);

}  // namespace analysis
