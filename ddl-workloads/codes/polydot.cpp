// SPDX-License-Identifier: Apache-2.0
// Generalized PolyDot: a rank for each point at which two polynomials are evaluated and multiplied.
#include "ddl-workloads/codes/code.hpp"
#include "ddl-workloads/codes/options.hpp"

#include <algorithm>

namespace ddl {

namespace {

int blocks(const base::Settings& settings, const std::string& option, int least)
{
    constexpr int most = 100;
    const int count = settings.get<int>(option);
    if (count < least || count > most) base::fail_usage("polydot[", option, "=", count, "]: ", least, " to ", most);
    return count;
}

Points points_of(const base::Settings& settings)
{
    const std::string& text = settings.text("points");
    const std::vector<std::string> all{"chebyshev", "roots"};
    if (std::ranges::find(all, text) == all.end())
        base::fail_usage("polydot[points=", text, "]: chebyshev or roots", base::did_you_mean(text, all));
    return text == "roots" ? Points::roots : Points::chebyshev;
}

ProductCode product_of(const base::Settings& settings, int ranks)
{
    const int t = blocks(settings, "t", 1);
    const int s = blocks(settings, "s", 1);
    const int columns = blocks(settings, "columns", 0);
    const int u = columns == 0 ? t : columns;
    const int threshold = polydot_threshold(t, s, u);
    constexpr int most_ranks = 1000;  // condition numbers of larger codes take too long
    if (threshold > most_ranks)
        base::fail_usage("polydot[t=", t, ",s=", s, ",columns=", u, "] takes ", threshold, " ranks: more than ",
                         most_ranks);
    if (ranks == 0) ranks = threshold;
    if (ranks < threshold)
        base::fail_usage("polydot[t=", t, ",s=", s, ",columns=", u, "] takes ", threshold, " ranks or more, not ",
                         ranks);
    return polydot(t, s, u, ranks, points_of(settings));
}

}  // namespace

extern const CodeCard polydot_code{
    .name = "polydot",
    .summary = "Generalized PolyDot, for single products; t=1 is MatDot, s=1 the Polynomial code",
    .options = {t_option, s_option, columns_option, points_option},
    .product = product_of,
};

}  // namespace ddl
