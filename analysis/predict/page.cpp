// SPDX-License-Identifier: Apache-2.0
// The HTML page of a prediction.
#include "analysis/predict/tables.hpp"
#include "analysis/report/writers/html_text.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/plots/palette.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/page/effects_plot.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

namespace analysis {

namespace {

using base::page::EffectsPlot;

// The terminal's table as HTML; the first words of each line are its name.
std::string cells_html(const PredictionLines& lines)
{
    std::vector<std::vector<Cell>> rows;
    for (std::size_t line = 1; line < lines.size(); ++line) {
        std::vector<Cell>& row = rows.emplace_back();
        for (std::size_t c = 0; c < lines[line].size(); ++c)
            row.push_back(c == 0 ? words(lines[line][c]) : number(lines[line][c]));
    }
    return dense(table(lines.front(), rows));
}

// The terminal's lines after the first line and the table, which the page has in other forms.
template <class Prediction>
std::string assumptions(const Prediction& prediction, const std::vector<std::string>& notes)
{
    std::ostringstream text;
    print(text, prediction);
    std::vector<std::string> said = base::split(text.str(), '\n');
    said.erase(said.begin(), said.begin() + static_cast<std::ptrdiff_t>(1 + lines_of(prediction).size()));
    for (const std::string& note : notes) std::erase(said, base::printable(note));
    return fill("<p>{}</p>\n<ul class=\"plain\">{}</ul>\n", {escape(base::join_words(said, " ")), list(notes)});
}

struct Predictions {
    std::string headline;
    std::string subtitle;
    std::string warning{};
    std::vector<std::string> notes{};
    EffectsPlot plot{};
};

template <class Prediction>
void write(const std::filesystem::path& wanted, const Prediction& prediction, const Predictions& page)
{
    base::WholeDirectory directory{wanted};
    write_csv(directory.path() / "prediction.csv", prediction);
    const std::string plot =
        page.plot.rows.empty()
            ? "<p>No slowdown can be predicted from what was measured; below is why.</p>\n"
            : figure(base::page::draw_effects("interference", directory.path(), page.plot), directory.path());
    base::write_whole(directory.path() / "index.html",
                      base::page::html_of({.title = "Crosstalk prediction",
                                           .description = page.headline,
                                           .headline = page.headline,
                                           .subtitle = escape(page.subtitle),
                                           .warning = page.warning,
                                           .answer = plot,
                                           .evidence = {{"Numbers", cells_html(lines_of(prediction))},
                                                        {"What was assumed", assumptions(prediction, page.notes)}},
                                           .foot = fill("<p class=\"small\">Beside this page: {}.</p>\n",
                                                        {links({"prediction.csv"})})}));
    directory.finish();
}

// The slowdown by each noise on the largest number of ranks.
std::string headline_of(const Projection& projection)
{
    int ranks = 0;
    std::vector<std::string> slowdowns;
    for (const ProjectedRow& row : projection.rows) {
        if (!row.slowdown_percent) continue;
        if (row.ranks > ranks) slowdowns.clear();
        ranks = std::max(ranks, row.ranks);
        if (row.ranks == ranks)
            slowdowns.push_back(base::join(row.treatment, " ", signed_percent(*row.slowdown_percent)));
    }
    if (slowdowns.empty()) return "No slowdown can be projected";
    return base::join("Projected slowdown on ", counted(static_cast<std::size_t>(ranks), "rank"), ": ",
                      base::join_words(slowdowns, ", "));
}

}  // namespace

void write_page(const std::filesystem::path& folder, const NeighbourPrediction& prediction)
{
    EffectsPlot plot{.caption = "Dot: predicted slowdown. Bar: its 95 % interval, if all of it was measured."};
    const auto add = [&](const std::string& name, const Predicted& predicted, const std::string& colour) {
        if (!predicted.percent) return;
        plot.rows.push_back(
            {.name = name,
             .percent = *predicted.percent,
             .interval = predicted.high ? std::optional{Interval{predicted.low, *predicted.high}} : std::nullopt,
             .colour = colour});
    };
    for (const PredictedPart& part : prediction.parts)
        add(part.stressor, part.predicted, colour(part.stressor, 0).light);
    std::string said = "outside of what was measured";
    if (!prediction.parts.empty()) {
        const Predicted all = together(prediction.parts);
        add("together", all, colour("other", 0).light);
        if (all.percent) said = signed_percent(*all.percent);
    }
    write(folder, prediction,
          {.headline = "Predicted slowdown: " + said,
           .subtitle = base::join(prediction.neighbour.command, " beside the training of ", prediction.directory),
           .warning = prediction.measured.trustworthy
                          ? ""
                          : base::page::warning("✗ Not trustworthy", "", {"The training's report is not trustworthy."}),
           .notes = prediction.notes,
           .plot = plot});
}

void write_page(const std::filesystem::path& folder, const Projection& projection)
{
    EffectsPlot plot{.caption = "Dot: projected slowdown of the step. Bar: its 95 % interval, where one is known.",
                     .axis = "slowdown of the step, percent of the quiet step on as many ranks"};
    constexpr double confidence = 0.95;
    for (const ProjectedRow& row : projection.rows)
        if (row.slowdown_percent)
            plot.rows.push_back(
                {.name = base::join(row.treatment, ", ", counted(static_cast<std::size_t>(row.ranks), "rank")),
                 .percent = *row.slowdown_percent,
                 .interval = slowdown_interval(row, confidence),
                 .colour = colour(row.treatment, 0).light});
    write(folder, projection,
          {.headline = headline_of(projection),
           .subtitle = base::join(projection.directory, ": a projection from ",
                                  counted(static_cast<std::size_t>(projection.measured.ranks), "rank"), " on ",
                                  counted(static_cast<std::size_t>(projection.measured.nodes), "node"), ", to ",
                                  projection.ranks_per_node, " a node"),
           .notes = projection.measured.notes,
           .plot = plot});
}

}  // namespace analysis
