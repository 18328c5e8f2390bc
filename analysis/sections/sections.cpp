// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/section.hpp"

#include <type_traits>
#include <utility>

namespace analysis {

#define SECTION(name) extern const Section name;
namespace section {
#include "analysis/sections/sections.inc"
}
#undef SECTION

namespace {

// Appends what a section returns, if it has that function.
template <class Item, class... Arguments>
void append(std::vector<Item>& all, std::vector<Item> (*function)(Arguments...),
            const std::type_identity_t<Arguments>&... arguments)
{
    if (function == nullptr) return;
    for (Item& item : function(arguments...)) all.push_back(std::move(item));
}

}  // namespace

std::span<const Section* const> sections()
{
    static constexpr const Section* all[] = {
#define SECTION(name) &section::name,
#include "analysis/sections/sections.inc"
#undef SECTION
    };
    return all;
}

std::vector<MetricCard> metrics_of_sections()
{
    std::vector<MetricCard> all;
    for (const Section* section : sections()) append(all, section->metrics);
    return all;
}

SectionTexts section_texts(const Report& report)
{
    SectionTexts texts;
    for (const Section* section : sections()) {
        append(texts.tables, section->tables, report);
        if (section->headline != nullptr && texts.headline.text.empty()) texts.headline = section->headline(report);
        append(texts.answer, section->answer, report);
        append(texts.terminal, section->terminal, report);
        if (section->markdown != nullptr)
            texts.markdown.push_back({section->markdown_title, section->markdown(report)});
        if (section->json != nullptr) section->json(texts.json, report);
        if (section->noise_json == nullptr) continue;
        for (const FactorVerdict& noise : report.verdict.factors) {
            const auto json = texts.noise_json.try_emplace(noise.factor, nlohmann::ordered_json::object()).first;
            section->noise_json(json->second, report, noise.factor);
        }
    }
    return texts;
}

SectionPage section_page(const std::filesystem::path& folder, const Report& report)
{
    SectionPage page;
    for (const Section* section : sections()) {
        append(page.sentences, section->sentences, report);
        append(page.below, section->below, report);
        append(page.detail, section->detail, report);
        append(page.plots, section->plots, folder, report);
    }
    return page;
}

}  // namespace analysis
