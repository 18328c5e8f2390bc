// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/html_text.hpp"

#include "analysis/metrics/metric.hpp"

#include <algorithm>

namespace analysis {

namespace {

std::string explanation(std::string_view word)
{
    const MetricCard* card = metric_called(word);
    return card == nullptr ? "" : card->summary + " " + card->reading;
}

}  // namespace

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows)
{
    return base::page::plain_table(head, rows, explanation);
}

std::string plain_list(const std::vector<std::string>& items)
{
    return items.empty() ? "" : fill("<ul class=\"plain\">{}</ul>\n", {list(items)});
}

std::string terms(const std::vector<std::string>& words)
{
    std::vector<const MetricCard*> explained;
    std::string html;
    for (const std::string& word : words) {
        const MetricCard* card = metric_called(word);
        if (card == nullptr || std::count(explained.begin(), explained.end(), card) > 0) continue;
        explained.push_back(card);
        html += fill("<dt>{}</dt><dd>{} {}</dd>\n", {escape(card->title.empty() ? card->name : card->title),
                                                     escape(card->summary), escape(card->reading)});
    }
    if (html.empty()) return "";
    return fill("<details class=\"screen\"><summary>What these words mean</summary>\n<dl>{}</dl></details>\n", {html});
}

}  // namespace analysis
