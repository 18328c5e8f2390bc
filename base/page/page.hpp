// SPDX-License-Identifier: Apache-2.0
// A page in two levels: the answer, which a screen shows at once, and the evidence, with contents that stay in view. It
// refers to nothing outside but files beside it, and is complete where no script runs.
#pragma once

#include <string>
#include <vector>

namespace base::page {

// Section of the evidence; its anchor is made of its title. All texts of these structs but titles are HTML already.
struct Section {
    std::string title;  // plain text, different from those of other sections
    std::string html;   // a section without any is left out
    bool on_paper = true;
};

// The outcome of a control or check.
enum class Grade { held, not_held, not_tested };

struct Trust {
    std::string name;  // short: "placebo"
    Grade grade = Grade::held;
    std::string value;  // plain text, shown where the pointer is
};

struct Page {
    std::string title{};        // of the browser's window
    std::string description{};  // for those who see a link to it only; plain text
    std::string headline{};     // plain text
    std::string subtitle{};
    std::vector<Trust> trust{};
    std::string trust_section{};  // title of the section on it; empty if there is none
    std::string warning{};        // above the answer: why not to trust it
    std::string answer{};
    std::vector<Section> evidence{};
    std::string foot{};
};

std::string html_of(const Page& page);

// The anchor of a section with that title: "#what-was-run-where".
std::string anchor(const std::string& title);

// Red, with reasons in plain text.
std::string warning(const std::string& title, const std::string& text, const std::vector<std::string>& reasons);

}  // namespace base::page
