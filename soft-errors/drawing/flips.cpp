// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/drawing/flips.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace soft_errors {

namespace {

std::uint64_t scaled(const NamedTensor& tensor, std::uint64_t bits, double factor)
{
    if (tensor.format.kind != NumberFormat::Kind::floating)
        base::fail("--scale: ", tensor.path, " is of type ", format_name(tensor.format),
                   ", which cannot be multiplied; choose others with --precision");
    return nearest_bits(tensor.format, value_of(tensor.format, bits) * factor);
}

// Draws the bits of a tensor's number that flip.
class Drawer {
 public:
    Drawer(const NamedTensor& tensor, const FlipRequest& request)
        : tensor_{tensor}, request_{request}, allowed_{allowed_bits(tensor, request)}
    {
        const std::size_t needed = std::max(request.mask.size(), static_cast<std::size_t>(request.burst));
        if (needed > allowed_.size())
            base::fail(request.mask.empty() ? "--burst " : "--mask of ", needed, ": ", tensor.path, " has only ",
                       allowed_.size(), " bits that may flip");
    }

    std::uint64_t operator()(base::Random& random)
    {
        if (!request_.mask.empty()) return masked(base::draw_below(random, positions()));
        std::uint64_t flipped = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(request_.burst); ++i) {
            const auto other = i + static_cast<std::size_t>(base::draw_below(random, allowed_.size() - i));
            std::swap(allowed_[i], allowed_[other]);
            flipped |= bit_from_left(tensor_.format, allowed_[i]);
        }
        return flipped;
    }

    // All possible flips of one bit or a mask; bursts have too many.
    std::vector<std::uint64_t> all() const
    {
        std::vector<std::uint64_t> ways;
        if (!request_.mask.empty())
            for (std::size_t position = 0; position < positions(); ++position) ways.push_back(masked(position));
        else if (request_.burst == 1)
            for (const int bit : allowed_) ways.push_back(bit_from_left(tensor_.format, bit));
        return ways;
    }

 private:
    std::size_t positions() const { return allowed_.size() - request_.mask.size() + 1; }
    std::uint64_t masked(std::uint64_t position) const
    {
        std::uint64_t flipped = 0;
        for (std::size_t i = 0; i < request_.mask.size(); ++i)
            if (request_.mask[i] == '1') flipped |= bit_from_left(tensor_.format, allowed_[position + i]);
        return flipped;
    }

    const NamedTensor& tensor_;
    const FlipRequest& request_;
    std::vector<int> allowed_;
};

std::uint64_t drawn_until_finite(const NamedTensor& tensor, const NumberBits& number, Drawer& draw,
                                 base::Random& random)
{
    constexpr int patience = 10'000;
    const auto stays_finite = [&](std::uint64_t flipped) { return is_finite(tensor.format, number.bits ^ flipped); };
    const std::vector<std::uint64_t> ways = draw.all();
    const bool hopeless = !ways.empty() && std::ranges::none_of(ways, stays_finite);
    for (int tries = 0; !hopeless && tries < patience; ++tries)
        if (const std::uint64_t flipped = draw(random); stays_finite(flipped)) return flipped;
    base::fail("no allowed flip keeps ", value_text(tensor.format, number.bits), " finite (", tensor.path, " number ",
               number.index, "): give other --bits, or --not-finite skip");
}

}  // namespace

std::vector<int> allowed_bits(const NamedTensor& tensor, const FlipRequest& request)
{
    const int most = tensor.format.bits() - 1;
    const BitRange range = request.bits.value_or(BitRange{0, most});
    if (range.last > most)
        base::fail("--bits ", range.first, "-", range.last, ": ", tensor.path, " is of type ",
                   format_name(tensor.format), ", which has bits 0 to ", most, "; choose others with --precision");
    std::vector<int> bits;
    if (request.sign && range.first > 0) bits.push_back(0);
    for (int bit = range.first; bit <= range.last; ++bit) bits.push_back(bit);
    return bits;
}

std::vector<NumberBits> altered(const NamedTensors& state, std::vector<Site>& sites, std::vector<NumberBits>& numbers,
                                const FlipRequest& request, base::Random& random)
{
    std::map<std::size_t, Drawer> drawers;
    std::vector<NumberBits> after;
    std::vector<Site> kept_sites;
    std::vector<NumberBits> kept;
    for (std::size_t i = 0; i < sites.size(); ++i) {
        const NamedTensor& tensor = state.tensors[sites[i].tensor];
        NumberBits number = numbers[i];
        if (request.scale) {
            number.bits = scaled(tensor, number.bits, *request.scale);
        } else {
            Drawer& draw = drawers.try_emplace(sites[i].tensor, tensor, request).first->second;
            if (sites[i].flipped == 0)
                sites[i].flipped = request.not_finite == NotFinite::redraw
                                       ? drawn_until_finite(tensor, number, draw, random)
                                       : draw(random);
            number.bits ^= sites[i].flipped;
        }
        const bool finite = is_finite(tensor.format, number.bits);
        if (request.scale && request.not_finite == NotFinite::redraw && !finite)
            base::fail("--scale makes number ", number.index, " of ", tensor.path,
                       " infinite; give --not-finite skip, or --not-finite allow");
        if (request.not_finite == NotFinite::skip && !finite) continue;
        kept_sites.push_back(sites[i]);
        kept.push_back(numbers[i]);
        after.push_back(number);
    }
    sites = std::move(kept_sites);
    numbers = std::move(kept);
    return after;
}

}  // namespace soft_errors
