// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/drawing/selection.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "soft-errors/drawing/flips.hpp"
#include "soft-errors/drawing/geometric_gap.hpp"
#include "soft-errors/drawing/roles.hpp"
#include "soft-errors/state/injection_sequence.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

namespace soft_errors {

namespace {

bool is_at(const std::string& path, const std::vector<std::string>& locations)
{
    if (locations.empty()) return !path.starts_with("meta/");
    const auto begins = [&](const std::string& location) { return path.starts_with(without_leading_slash(location)); };
    return std::ranges::any_of(locations, begins);
}

bool has_precision(NumberFormat format, const std::string& precision)
{
    format.big_endian = false;
    if (precision == "auto") return true;
    if (precision == "bf16") return format == bfloat16;
    if (precision == "16") return format == float16;
    return format == (precision == "32" ? float32 : float64);
}

[[noreturn]] void fail_none(const NamedTensors& state, const SiteRequest& request)
{
    if (state.tensors.empty()) base::fail(state.name, " has no tensor that may be altered (--list shows all)");
    std::vector<std::string> paths;
    for (const NamedTensor& tensor : state.tensors) paths.push_back(tensor.path);
    const std::string wanted =
        request.locations.empty() ? std::string{} : without_leading_slash(request.locations.front());
    const bool there = std::ranges::any_of(paths, [&](const auto& path) { return path.starts_with(wanted); });
    if (!there)
        base::fail(state.name, " has no tensor whose path begins with '", wanted, "'",
                   base::did_you_mean(wanted, paths), " (--list shows all)");
    base::fail(state.name, " has no tensor that matches", request.role.empty() ? "" : " --role " + request.role,
               request.precision == "auto" ? "" : " --precision " + request.precision, " (--list shows all ",
               state.tensors.size(), ")");
}

// Draws `count` distinct values of 0 .. all-1 (Floyd's algorithm); every set has the same probability.
std::vector<std::uint64_t> draw_distinct(std::uint64_t count, std::uint64_t all, base::Random& random)
{
    std::unordered_set<std::uint64_t> drawn;
    drawn.reserve(count);
    for (std::uint64_t last = all - count; last < all; ++last)
        if (!drawn.insert(base::draw_below(random, last + 1)).second) drawn.insert(last);
    std::vector<std::uint64_t> sorted(drawn.begin(), drawn.end());
    std::ranges::sort(sorted);
    return sorted;
}

std::uint64_t count_of(const SiteRequest& request, std::uint64_t all)
{
    if (!request.share) return request.flips;
    const auto count = static_cast<std::uint64_t>(std::llround(*request.share * static_cast<double>(all)));
    if (count == 0)
        base::fail("--share: ", base::format(base::Percent{*request.share * 100.0}), " of ", all,
                   " numbers is less than one");
    return std::min(count, all);
}

// [tensor]: number of sites.
using Counts = std::vector<std::uint64_t>;

Counts counts_by_tensor(std::uint64_t count, const Counts& sizes, base::Random& random)
{
    std::vector<std::size_t> open(sizes.size());
    std::iota(open.begin(), open.end(), std::size_t{0});
    Counts counts(sizes.size(), 0);
    for (; count > 0; --count) {
        const auto pick = static_cast<std::size_t>(base::draw_below(random, open.size()));
        const std::size_t tensor = open[pick];
        if (++counts[tensor] == sizes[tensor]) open.erase(open.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    return counts;
}

// Counts that are as equal as the tensors' sizes allow; the remainder goes to tensors drawn at random.
Counts equal_counts(std::uint64_t count, const Counts& sizes, base::Random& random)
{
    Counts counts(sizes.size(), 0);
    while (count > 0) {
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            if (counts[i] < sizes[i]) open.push_back(i);
        base::shuffle(random, std::span{open});
        const std::uint64_t each = std::max<std::uint64_t>(count / open.size(), 1);
        for (const std::size_t tensor : open) {
            const std::uint64_t more = std::min({each, sizes[tensor] - counts[tensor], count});
            counts[tensor] += more;
            count -= more;
        }
    }
    return counts;
}

std::vector<Site> draw_bit_errors(const NamedTensors& state, const std::vector<std::size_t>& tensors, double rate,
                                  const FlipRequest& bits, base::Random& random)
{
    constexpr std::size_t most = 100'000'000;
    const GeometricGap gap{rate};
    std::vector<Site> sites;
    for (const std::size_t tensor : tensors) {
        const std::vector<int> allowed = allowed_bits(state.tensors[tensor], bits);
        const std::uint64_t all = state.tensors[tensor].elements * allowed.size();
        for (std::uint64_t at = gap(random); at < all; at += 1 + gap(random)) {
            const std::uint64_t index = at / allowed.size();
            if (sites.empty() || sites.back().tensor != tensor || sites.back().index != index)
                sites.push_back({tensor, index, 0});
            sites.back().flipped |= bit_from_left(state.tensors[tensor].format, allowed[at % allowed.size()]);
            if (sites.size() > most) base::fail("--bit-error-rate ", rate, " flips more than ", most, " numbers");
        }
    }
    return sites;
}

std::vector<Site> draw_numbers(const NamedTensors& state, const std::vector<std::size_t>& tensors,
                               const SiteRequest& request, base::Random& random)
{
    Counts sizes;
    for (const std::size_t tensor : tensors) sizes.push_back(state.tensors[tensor].elements);
    const std::uint64_t all = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    const std::uint64_t count = count_of(request, all);
    if (count > all) base::fail("--flips ", count, ": there are only ", all, " numbers that may be altered");
    std::vector<Site> sites;
    sites.reserve(count);
    if (request.sampling == SiteSampling::element) {
        std::size_t place = 0;
        std::uint64_t begin = 0;
        for (const std::uint64_t number : draw_distinct(count, all, random)) {
            while (number >= begin + sizes[place]) begin += sizes[place++];
            sites.push_back({tensors[place], number - begin, 0});
        }
        return sites;
    }
    const Counts counts = request.sampling == SiteSampling::tensor ? counts_by_tensor(count, sizes, random)
                                                                   : equal_counts(count, sizes, random);
    for (std::size_t i = 0; i < tensors.size(); ++i)
        for (const std::uint64_t index : draw_distinct(counts[i], sizes[i], random))
            sites.push_back({tensors[i], index, 0});
    return sites;
}

}  // namespace

std::vector<std::size_t> eligible(const NamedTensors& state, const SiteRequest& request)
{
    const std::vector<std::string> roles = roles_of(state);
    std::vector<std::size_t> tensors;
    for (std::size_t i = 0; i < state.tensors.size(); ++i) {
        const NamedTensor& tensor = state.tensors[i];
        if (is_at(tensor.path, request.locations) && (request.role.empty() || roles[i] == request.role) &&
            has_precision(tensor.format, request.precision))
            tensors.push_back(i);
    }
    if (tensors.empty()) fail_none(state, request);
    return tensors;
}

std::vector<Site> draw_sites(const NamedTensors& state, const std::vector<std::size_t>& tensors,
                             const SiteRequest& request, const FlipRequest& bits, base::Random& random)
{
    std::vector<Site> sites = request.bit_error_rate
                                  ? draw_bit_errors(state, tensors, *request.bit_error_rate, bits, random)
                                  : draw_numbers(state, tensors, request, random);
    if (request.probability < 1.0)
        std::erase_if(sites, [&](const Site&) { return base::draw_unit(random) >= request.probability; });
    return sites;
}

}  // namespace soft_errors
