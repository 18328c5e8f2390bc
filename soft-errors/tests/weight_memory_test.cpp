// SPDX-License-Identifier: Apache-2.0
// Weights in memory whose bits flip. Expected values of each code are derived on paper here, not by its functions.
#include "soft-errors/codes/weight_memory.hpp"

#include "base/contract/stored_state.hpp"
#include "base/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace {

constexpr float most = 127.0F;

// Weights that are whole numbers, with a step of 1, and one more weight, the largest.
std::vector<float> weights_of(float steps, std::size_t count, float largest = most)
{
    std::vector<float> weights(count, steps);
    weights.push_back(largest);
    return weights;
}

float after(const char* code, float value, double rate, const char* detection = "none", float largest = most)
{
    std::vector<float> weights = weights_of(value, 1, largest);
    base::Random random = base::random_stream(1, 0);
    soft_errors::read_weights(soft_errors::weight_memory(code, detection, rate), weights, random);
    return weights.front();
}

// Mean over enough weights for a standard deviation of about 0.2 %: with rare flips of the highest bit, which count
// most, the relative variance of one square is about 0.6 / rate.
double mean_square_error(const char* code, int steps, double rate, float largest = most)
{
    const auto count = static_cast<std::size_t>(200'000 / rate);
    std::vector<float> weights = weights_of(static_cast<float>(steps), count, largest);
    base::Random random = base::random_stream(7, static_cast<std::uint64_t>(steps + 1000));
    soft_errors::read_weights(soft_errors::weight_memory(code, "none", rate), weights, random);
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) sum += std::pow(static_cast<double>(weights[i]) - steps, 2.0);
    return sum / static_cast<double>(count);
}

constexpr double one_percent = 0.01;

}  // namespace

TEST_CASE("every code of the contract is there, and reads back what it has written, to half a step")
{
    REQUIRE(soft_errors::weight_codes().size() == base::stored::codes.size());
    for (std::size_t i = 0; i < base::stored::codes.size(); ++i) {
        const soft_errors::WeightCode& code = soft_errors::weight_codes()[i];
        CHECK(std::string{code.name} == base::stored::codes[i]);
        const std::vector<float> weights{0.3F, -0.05F, 0.0F, 0.0123F, -0.21F};
        const float step = soft_errors::step_of(code, weights);
        for (const float weight : weights) {
            const std::uint32_t word = code.encode(weight, step);
            CHECK((code.bits == 32 || word < std::uint32_t{1} << static_cast<unsigned>(code.bits)));
            const float read = code.decode(word, step);
            const float allowed = code.most_steps > 0 ? 0.501F * step : std::abs(weight) * 0.004F;  // bf16: 2^-8
            CHECK_MESSAGE(std::abs(read - weight) <= allowed, code.name, " ", weight, " ", read);
            CHECK(code.encode(read, step) == word);
        }
    }
}

TEST_CASE("whole numbers stand in memory as the codes' definitions have it")
{
    const auto word = [](const char* code, float steps) { return soft_errors::weight_code(code).encode(steps, 1.0F); };
    CHECK(word("int8", -1) == 0xff);
    CHECK(word("int8", -127) == 0x81);
    CHECK(word("int4", -3) == 0xd);
    CHECK(word("int4", 100) == 7);  // clipped to most_steps
    CHECK(word("sign-magnitude", -5) == 0x85);
    CHECK(word("offset", -127) == 1);
    CHECK(word("offset", 0) == 128);
    CHECK(word("gray", 0) == 0xc0);   // 1000 0000 -> 1100 0000
    CHECK(word("gray", -1) == 0x40);  // 0111 1111 -> 0100 0000: one bit from the code of 0
    CHECK(word("fp16", 1) == 0x3c00);
    CHECK(word("bf16", 1) == 0x3f80);
    CHECK(word("fp32", 1) == 0x3f800000);
    CHECK(soft_errors::weight_code("int8").encode(NAN, 1.0F) == 0);
    CHECK(soft_errors::weight_code("int8").encode(0.0F, 0.0F) == 0);  // a tensor of zeros has step 0
}

TEST_CASE("if every bit flips, each weight becomes its complement")
{
    // Two's complement: ~k = -k - 1. Offset: 255 - (k + 128) gives the same.
    CHECK(after("int8", 100, 1.0) == -101);
    CHECK(after("offset", 100, 1.0) == -101);
    CHECK(after("int4", 3, 1.0, "none", 7) == -4);
    CHECK(after("sign-magnitude", 100, 1.0) == -27);
    CHECK(after("gray", 0, 1.0) == -86);  // 1100 0000 -> 0011 1111, which counts 0010 1010 = 42 = 128 - 86
    CHECK(after("fp32", 1, 1.0) == std::bit_cast<float>(0xc07fffffU));
    CHECK(after("bf16", 1, 1.0) == -3.984375F);     // 0xc07f
    CHECK(after("fp16", 1, 1.0) == -3.998046875F);  // 0xc3ff
}

TEST_CASE("int8: the mean squared error is p (1 - p) 21,845 + p^2 (2k + 1)^2")
{
    // Bit i counts w_i steps: 1, 2, .. 64, -128, and k = sum b_i w_i. With flips F_i, each with probability p and
    // independent of the others, the error is E = sum (1 - 2 b_i) w_i F_i.
    //   Its variance: p (1 - p) sum w_i^2 = p (1 - p) (4^8 - 1) / 3 = p (1 - p) 21,845.
    //   Its mean: p (sum w_i - 2 sum b_i w_i) = p (-1 - 2k), for 1 + 2 + .. + 64 - 128 = -1.
    // The mean squared error is the sum of the variance and the square of the mean.
    const auto on_paper = [](double p, double k) { return p * (1 - p) * 21845.0 + p * p * (2 * k + 1) * (2 * k + 1); };
    for (const int k : {-127, -1, 0, 100, 127})
        CHECK(mean_square_error("int8", k, 0.1) == doctest::Approx(on_paper(0.1, k)).epsilon(one_percent));
    CHECK(mean_square_error("int8", 100, 0.5) == doctest::Approx(on_paper(0.5, 100)).epsilon(one_percent));
    CHECK(mean_square_error("int8", 100, 0.01) == doctest::Approx(on_paper(0.01, 100)).epsilon(one_percent));
    // Offset: bit i counts 1, 2, .. 128, with sum 255, and k + 128 = sum b_i w_i: the mean is the same.
    CHECK(mean_square_error("offset", 100, 0.1) == doctest::Approx(on_paper(0.1, 100)).epsilon(one_percent));
}

TEST_CASE("int4 and sign-magnitude: the mean squared error is as on paper")
{
    // int4: w_i is 1, 2, 4, -8, sum w_i^2 = 85.
    const double p = 0.1;
    const double k4 = -5;
    const double of_int4 = p * (1 - p) * 85 + p * p * (2 * k4 + 1) * (2 * k4 + 1);
    CHECK(mean_square_error("int4", -5, p, 7.0F) == doctest::Approx(of_int4).epsilon(one_percent));
    // Sign-magnitude: the seven bits of the magnitude m have an error with variance p (1 - p) 5,461 and mean p (127 -
    // 2m). With probability p the sign flips too, and the error is -(2m + that error).
    const double m = 100;
    const double variance = p * (1 - p) * 5461;
    const double mean = p * (127 - 2 * m);
    const double expected = variance + (1 - p) * mean * mean + p * (2 * m + mean) * (2 * m + mean);
    CHECK(mean_square_error("sign-magnitude", -100, p) == doctest::Approx(expected).epsilon(one_percent));
}

TEST_CASE("gray: the mean squared error is that of its 256 ways to flip")
{
    // Bit i of the number is 1 if bit i of the code and all higher bits have odd parity together.
    const double p = 0.1;
    const int k = 42;
    const auto number_of = [](unsigned code) {
        int number = 0;
        for (int bit = 7; bit >= 0; --bit)
            if (std::popcount(code >> static_cast<unsigned>(bit)) % 2 == 1) number += 1 << bit;
        return number - 128;
    };
    unsigned code = 0;
    while (number_of(code) != k) ++code;
    double expected = 0.0;
    for (unsigned flips = 0; flips < 256; ++flips)
        expected += std::pow(p, std::popcount(flips)) * std::pow(1 - p, 8 - std::popcount(flips)) *
                    std::pow(number_of(code ^ flips) - k, 2.0);
    CHECK(mean_square_error("gray", k, p) == doctest::Approx(expected).epsilon(one_percent));
}

TEST_CASE("parity finds the weights of which an odd number of bits flipped, itself among them, and makes them 0")
{
    // Parity finds an odd number of flips among nine bits: (1 - (1 - 2p)^9) / 2 = (1 - 0.8^9) / 2 = 0.43289.
    constexpr std::size_t count = 1'000'000;
    std::vector<float> weights(count, 100.0F);
    base::Random random = base::random_stream(3, 0);
    const soft_errors::WeightRead read =
        soft_errors::read_weights(soft_errors::weight_memory("int8", "parity", 0.1), weights, random);
    CHECK(read.bits == 9 * count);
    CHECK(static_cast<double>(read.flipped) == doctest::Approx(900'000).epsilon(0.005));
    CHECK(static_cast<double>(read.detected) / count == doctest::Approx(0.43289).epsilon(0.005));
    CHECK(after("int8", 100, 1.0, "parity") == 0.0F);  // nine flips, an odd number
}

TEST_CASE("a range that is known bounds what is read, and nothing of it is NaN or infinite")
{
    base::Random random = base::random_stream(4, 0);
    std::vector<float> weights;
    for (int i = 0; i < 100'000; ++i) weights.push_back(static_cast<float>(0.3 * base::draw_normal(random)));
    weights.push_back(2.0F);
    weights.push_back(-2.0F);
    for (const char* detection : {"none", "range"}) {
        std::vector<float> read = weights;
        const auto found = soft_errors::read_weights(soft_errors::weight_memory("fp32", detection, 0.01), read, random);
        const bool all = std::all_of(read.begin(), read.end(), [](float one) { return std::abs(one) <= 2.0F; });
        CHECK(all == (std::string{detection} == "range"));
        CHECK((found.detected > 100) == all);
    }
    CHECK(after("int8", 5, 1.0, "range") == 5);  // -6 is below the smallest weight
    CHECK(after("int8", 5, 0.0, "both") == 5);
}

TEST_CASE("fp32 without flips is the same to the bit, and rare flips cost no more draws than there are")
{
    std::vector<float> weights(1'000'000);
    base::Random random = base::random_stream(5, 0);
    for (float& one : weights) one = static_cast<float>(base::draw_normal(random));
    const std::vector<float> before = weights;
    CHECK(soft_errors::read_weights(soft_errors::weight_memory("fp32", "both", 0.0), weights, random).flipped == 0);
    CHECK(weights == before);
    base::Random same = random;
    const soft_errors::WeightRead read =
        soft_errors::read_weights(soft_errors::weight_memory("fp32", "none", 1e-9), weights, random);
    CHECK(read.flipped == 0);  // none of 32 million bits
    int draws = 0;
    for (; !(random == same) && draws < 64; ++draws) same();
    CHECK(draws < 64);  // a single gap was drawn
}

TEST_CASE("wrong words for stored weights get the right ones")
{
    CHECK_THROWS_WITH_AS(soft_errors::weight_memory("int88", "none", 0.1), doctest::Contains("did you mean int8?"),
                         base::UsageError);
    CHECK_THROWS_WITH_AS(soft_errors::weight_memory("int8", "pariy", 0.1), doctest::Contains("did you mean parity?"),
                         base::UsageError);
    CHECK_THROWS_AS(soft_errors::weight_memory("int8", "none", 1.5), base::UsageError);
    CHECK_THROWS_AS(soft_errors::weight_memory("int8", "none", NAN), base::UsageError);
}
