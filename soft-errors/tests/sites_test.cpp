// SPDX-License-Identifier: Apache-2.0
// Drawing of numbers: how often each is drawn, counted over many seeds.
#include "base/error.hpp"
#include "base/hash.hpp"
#include "soft-errors/drawing/flips.hpp"
#include "soft-errors/drawing/selection.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <utility>

namespace {

// Tensors of 10, 1000 and 2 numbers.
soft_errors::NamedTensors three_tensors()
{
    soft_errors::NamedTensors state;
    state.name = "state.h5";
    for (const auto& [path, elements] :
         {std::pair{"a/small", 10}, std::pair{"b/large", 1000}, std::pair{"c/tiny", 2}}) {
        soft_errors::NamedTensor tensor;
        tensor.path = path;
        tensor.format = soft_errors::float32;
        tensor.elements = static_cast<std::uint64_t>(elements);
        tensor.shape = {tensor.elements};
        state.tensors.push_back(tensor);
    }
    return state;
}

const std::vector<std::size_t> all{0, 1, 2};

std::vector<soft_errors::Site> draw(const soft_errors::SiteRequest& request, std::uint64_t seed,
                                    const soft_errors::FlipRequest& flips = {})
{
    base::Random random = base::random_stream(seed, 0);
    return soft_errors::draw_sites(three_tensors(), all, request, flips, random);
}

// Share of `draws` that lay in each tensor.
std::array<double, 3> shares(soft_errors::SiteSampling sampling, int draws)
{
    std::array<double, 3> counts{};
    for (int seed = 0; seed < draws; ++seed)
        counts.at(draw({.flips = 1, .sampling = sampling}, static_cast<std::uint64_t>(seed)).front().tensor) +=
            1.0 / draws;
    return counts;
}

// Four standard deviations of a share of n draws: one test in 16,000 fails by chance, but seeds are fixed.
double four_sigma(double share, int draws)
{
    return 4.0 * std::sqrt(share * (1.0 - share) / draws);
}

}  // namespace

TEST_CASE("each number is as likely as any other, whatever its tensor")
{
    constexpr int draws = 20'000;
    const std::array<double, 3> found = shares(soft_errors::SiteSampling::element, draws);
    for (const auto& [tensor, share] :
         {std::pair{0U, 10.0 / 1012}, std::pair{1U, 1000.0 / 1012}, std::pair{2U, 2.0 / 1012}})
        CHECK(std::abs(found.at(tensor) - share) < four_sigma(share, draws));
}

TEST_CASE("each tensor is as likely where that is asked for")
{
    constexpr int draws = 20'000;
    for (const double share : shares(soft_errors::SiteSampling::tensor, draws))
        CHECK(std::abs(share - 1.0 / 3.0) < four_sigma(1.0 / 3.0, draws));
}

TEST_CASE("within a tensor each number is as likely")
{
    constexpr int draws = 5'000;
    std::array<int, 10> counts{};
    for (int seed = 0; seed < draws; ++seed)
        for (const soft_errors::Site& site :
             draw({.flips = 30, .sampling = soft_errors::SiteSampling::stratified}, static_cast<std::uint64_t>(seed)))
            if (site.tensor == 1 && site.index < counts.size()) ++counts.at(site.index);
    // 30 draws: two of the tiny tensor, ten of the small one, 18 of a thousand of the large one.
    for (const int count : counts) CHECK(std::abs(count / double{draws} - 0.018) < four_sigma(0.018, draws));
}

TEST_CASE("numbers are distinct and in order, up to all of them")
{
    for (const auto sampling :
         {soft_errors::SiteSampling::element, soft_errors::SiteSampling::tensor, soft_errors::SiteSampling::stratified})
        for (const std::uint64_t flips : {1, 2, 500, 1011, 1012}) {
            const std::vector<soft_errors::Site> sites = draw({.flips = flips, .sampling = sampling}, flips);
            std::set<std::pair<std::size_t, std::uint64_t>> distinct;
            for (const soft_errors::Site& site : sites) distinct.emplace(site.tensor, site.index);
            CHECK(distinct.size() == flips);
            CHECK(sites.size() == flips);
            CHECK(std::is_sorted(sites.begin(), sites.end(), [](const auto& one, const auto& other) {
                return std::pair{one.tensor, one.index} < std::pair{other.tensor, other.index};
            }));
        }
    CHECK_THROWS_AS(draw({.flips = 1013}, 1), base::Error);
}

TEST_CASE("one seed draws the same and another does not")
{
    const auto drawn = [](std::uint64_t seed) {
        std::vector<std::uint64_t> indices;
        for (const soft_errors::Site& site : draw({.flips = 100}, seed)) indices.push_back(site.index);
        return indices;
    };
    CHECK(drawn(1) == drawn(1));
    CHECK(drawn(1) != drawn(2));
}

TEST_CASE("one seed draws the same numbers and bits on every machine")
{
    // Hashes are from x86-64; aarch64_test.sh draws on another architecture.
    const soft_errors::FlipRequest pairs{.bits = soft_errors::BitRange{1, 31}, .burst = 2};
    const auto hash_of = [&](const soft_errors::SiteRequest& request) {
        base::Random random = base::random_stream(20260101, 0);
        const soft_errors::NamedTensors state = three_tensors();
        std::vector<soft_errors::Site> sites = soft_errors::draw_sites(state, all, request, pairs, random);
        std::vector<soft_errors::NumberBits> numbers;
        for (const soft_errors::Site& site : sites) numbers.push_back({site.tensor, site.index, 0x3f800000});
        soft_errors::altered(state, sites, numbers, pairs, random);
        base::Fnv1a hash;
        for (const soft_errors::Site& site : sites)
            for (const std::uint64_t word : {std::uint64_t{site.tensor}, site.index, site.flipped})
                hash.add(std::as_bytes(std::span{&word, 1}));
        return hash.value();
    };
    CHECK(hash_of({.flips = 100}) == 0xad7211e8e9ee3e50);
    CHECK(hash_of({.share = 0.3, .probability = 0.7}) == 0xd0ce938a695bdab8);
    CHECK(hash_of({.flips = 100, .sampling = soft_errors::SiteSampling::tensor}) == 0x77b27a6e083000bd);
    CHECK(hash_of({.flips = 100, .sampling = soft_errors::SiteSampling::stratified}) == 0x9b1d444b2c46f883);
    CHECK(hash_of({.bit_error_rate = 0.003}) == 0x166ed58ccb4df979);
}

TEST_CASE("of a bit error rate each bit flips as often as any other")
{
    constexpr int draws = 400;
    constexpr double rate = 0.01;
    std::array<double, 32> counts{};
    for (int seed = 0; seed < draws; ++seed)
        for (const soft_errors::Site& site : draw({.bit_error_rate = rate}, static_cast<std::uint64_t>(seed)))
            for (std::size_t bit = 0; bit < counts.size(); ++bit)
                counts.at(bit) +=
                    (site.flipped & soft_errors::bit_from_left(soft_errors::float32, static_cast<int>(bit))) != 0 ? 1
                                                                                                                  : 0;
    for (const double count : counts) CHECK(std::abs(count / (1012.0 * draws) - rate) < four_sigma(rate, 1012 * draws));
}

TEST_CASE("high and low bit error rates are kept")
{
    for (const double rate : {0.9, 0.5, 1e-4}) {
        constexpr int draws = 100;
        double flipped = 0.0;
        for (int seed = 0; seed < draws; ++seed)
            for (const soft_errors::Site& site : draw({.bit_error_rate = rate}, static_cast<std::uint64_t>(seed)))
                flipped += __builtin_popcountll(site.flipped);
        constexpr int bits = 1012 * 32 * draws;
        CHECK(std::abs(flipped / bits - rate) < four_sigma(rate, bits));
    }
}
