// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/numbers.hpp"
#include "analysis/results/plots/palette.hpp"
#include "analysis/results/plots/step_plots.hpp"
#include "analysis/sections/coded/coded.hpp"
#include "base/csv.hpp"
#include "base/programs/gnuplot.hpp"

#include <algorithm>
#include <utility>

namespace analysis {

namespace {

constexpr const char* coded_gp =
#include "analysis/sections/coded/coded.gp.inc"
    ;

}  // namespace

Plot draw_coded(const std::filesystem::path& folder, const Report& report, const std::vector<ProductsUnder>& products)
{
    base::CsvWriter data{folder / "coded_parts.csv",
                         {"row", "part", "begin_ms", "end_ms", "low_ms", "high_ms", "name", "what"}};
    std::vector<std::string> names;
    double high = 0.0;
    for (std::size_t n = 0; n < products.size(); ++n) {
        const ProductsUnder& under = products[n];
        const std::string name = report.run.plan.treatments[under.treatment].name();
        names.push_back(base::gnuplot_tic(name));
        double at = 0.0;
        const auto part = [&](int number, double ms, const char* what, const std::optional<Interval>& more) {
            const double begin = std::exchange(at, at + ms);
            const auto edge = [&](double beyond) { return fixed(at + beyond - under.more_wait_ms, 5); };
            data.row(products.size() - n, number, fixed(begin, 5), fixed(at, 5), more ? edge(more->low) : "NaN",
                     more ? edge(more->high) : "NaN", name, what);
            high = std::max({high, at, more ? at + more->high - under.more_wait_ms : 0.0});
        };
        part(1, under.product_ms, "multiplying", std::nullopt);
        part(2, under.wait_ms, "waiting for symbols", under.more);
        part(3, under.decode_ms, "decoding", std::nullopt);
    }
    base::GnuplotVariables variables;
    variables.set("noises", names.size());
    variables.set("names", names);
    variables.set("left", room_for(names));
    variables.set("part_names", std::vector<std::string>{"multiplying", "waiting for symbols", "decoding"});
    variables.set("colours",
                  std::vector<std::string>{phase_colour("forward", 0).light, phase_colour("wait_exchange", 0).light,
                                           phase_colour("update", 0).light});
    variables.set("high", high > 0.0 ? high : 1.0);
    return for_people(folder,
                      {.name = "coded",
                       .title = "A coded product under each noise",
                       .caption = "Means of rank 0's products. Lines: intervals of the difference of the wait from "
                                  "quiet, around the end of the wait.",
                       .drawn = base::draw("interference", folder, "coded", variables, coded_gp),
                       .data = {"coded_parts.csv"}});
}

}  // namespace analysis
