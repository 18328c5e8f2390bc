// SPDX-License-Identifier: Apache-2.0
// A page with two levels: the answer, which fits on one screen, and the evidence, whose contents list stays in view.
// The page refers only to files in its directory, and is complete without scripts.
#pragma once

#include <string>
#include <vector>

namespace base::page {

// A section of the evidence; its anchor is derived from its title. The texts of these structs are HTML unless stated
// otherwise.
struct Section {
    std::string title;  // plain text, different from those of other sections
    std::string html;   // if empty, the section is left out
    bool on_paper = true;
};

// The outcome of a control or check.
enum class Grade { held, not_held, not_tested };

struct Trust {
    std::string name;  // short: "placebo"
    Grade grade = Grade::held;
    std::string value;  // plain text, shown as a tooltip
};

struct Page {
    std::string title{};        // title of the browser's window
    std::string description{};  // plain text, for previews of links to the page
    std::string headline{};     // plain text
    std::string subtitle{};
    std::vector<Trust> trust{};
    std::string trust_section{};  // title of the section about it; empty if there is none
    std::string warning{};        // shown above the answer: why not to trust it
    std::string answer{};
    std::vector<Section> evidence{};
    std::string foot{};
};

std::string html_of(const Page& page);

// The anchor of a section with that title: "#what-was-run-where".
std::string anchor(const std::string& title);

// A box in red; the reasons are plain text.
std::string warning(const std::string& title, const std::string& text, const std::vector<std::string>& reasons);

}  // namespace base::page
