// SPDX-License-Identifier: Apache-2.0
// Guards: which numbers each guard accepts and rejects, with numbers whose bits are known.
#include "base/error.hpp"
#include "ddl-workloads/guards/golden.hpp"
#include "ddl-workloads/guards/guard_options.hpp"
#include "ddl-workloads/guards/repair.hpp"
#include "ddl-workloads/guards/replicas.hpp"
#include "ddl-workloads/guards/state_copy.hpp"
#include "ddl-workloads/guards/state_scan.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::unique_ptr<ddl::Model> synthetic()
{
    const base::Registry<ddl::ModelCard> models = ddl::model_registry({});
    const ddl::ModelCard& card = models.find("synthetic");
    return card.make(models.settings(card, {{"bytes", "400B/80B"}, {"flops", "0"}}), {});
}

std::unique_ptr<ddl::Guard> guard(const std::string& text)
{
    ddl::GuardPlan plan;
    ddl::parse_guards(text, plan);
    const ddl::GuardCard& card = ddl::guard_registry().find(plan.guards.front().name);
    return card.make(ddl::guard_registry().settings(card, plan.guards.front().options));
}

std::span<float> numbers(const ddl::StateTensor& tensor)
{
    return {reinterpret_cast<float*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(float)};
}

std::span<const std::byte> bytes(const std::vector<float>& values)
{
    return std::as_bytes(std::span{values});
}

float flipped(float value, int bit_from_left)
{
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ (0x80000000U >> bit_from_left));
}

}  // namespace

TEST_CASE("the largest magnitude is found at any place and in tensors of any length")
{
    for (const std::size_t length : {1U, 3U, 15U, 16U, 17U, 33U, 100U})
        for (std::size_t at = 0; at < length; ++at) {
            std::vector<float> values(length, 0.5F);
            values[at] = -3.5F;
            CHECK(ddl::largest_magnitude(ddl::ElementType::float32, bytes(values)) == 3.5);
            values[at] = -infinite;
            CHECK(std::isinf(ddl::largest_magnitude(ddl::ElementType::float32, bytes(values))));
            values[at] = not_a_number;
            CHECK(std::isnan(ddl::largest_magnitude(ddl::ElementType::float32, bytes(values))));
        }
    const std::vector<double> wide{1.0, -1e300, 2.0};
    CHECK(ddl::largest_magnitude(ddl::ElementType::float64, std::as_bytes(std::span{wide})) == 1e300);
    CHECK(ddl::largest_magnitude(ddl::ElementType::float32, {}) == 0.0);
}

// Flipping bit 1 turns 0.01 into 3.4e36, 1 into infinity, 1.5 into NaN and 0 into 2.
TEST_CASE("range at 2 catches every flip of bit 1 of a number below 2, and no number below 2")
{
    const auto model = synthetic();
    const auto range = guard("range=2");
    const ddl::StateLook first{*model};
    const std::span<float> values = numbers(first.tensors().back());
    for (float& value : values) value = 0.25F;
    std::vector<float> all{0.0F, 1e-42F, 1e-30F, 0.01F, 0.5F, 1.0F, 1.5F, 1.9999999F};
    for (int i = 0; i < 2000; ++i) all.push_back(static_cast<float>(i) * 0.001F);
    for (const float value : all)
        for (const float sign : {1.0F, -1.0F}) {
            values[3] = sign * value;
            ddl::StateLook sound{*model};
            CHECK(range->before_forward(sound).empty());
            values[3] = flipped(sign * value, 1);
            ddl::StateLook altered{*model};
            const std::vector<ddl::Finding> found = range->before_forward(altered);
            REQUIRE(found.size() == 1);
            CHECK(found[0].tensor == first.tensors().size() - 1);
        }
}

TEST_CASE("range alone goes by each tensor's own numbers")
{
    const auto model = synthetic();
    const auto range = guard("range");
    const ddl::StateLook look{*model};
    const std::span<float> values = numbers(look.tensors().back());
    const auto caught = [&](float value) {
        values[3] = value;
        ddl::StateLook now{*model};
        return !range->before_forward(now).empty();
    };
    for (float& value : values) value = 0.0F;
    CHECK_FALSE(caught(0.0F));
    CHECK_FALSE(caught(1.5F));  // the bound is at least 2
    CHECK_FALSE(caught(20.0F));
    CHECK(caught(320.0F));  // exactly 16 times 20
    CHECK_FALSE(caught(319.0F));
    CHECK(caught(1e20F));
    CHECK(caught(not_a_number));
}

TEST_CASE("clipped numbers become as large as the others")
{
    std::vector<float> values{1.0F, -2.5F, 1e36F, -infinite, not_a_number, 0.5F};
    CHECK(ddl::clip(ddl::ElementType::float32, std::as_writable_bytes(std::span{values}), 100.0) == 3);
    CHECK(values == std::vector<float>{1.0F, -2.5F, 2.5F, -2.5F, 0.0F, 0.5F});
}

TEST_CASE("norm goes by the median of the steps before")
{
    const auto norm = guard("norm=10x");
    std::array<float, 2> all{};
    const std::vector<std::span<float>> gradients{std::span{all}.first(1), std::span{all}.last(1)};
    const auto caught = [&](float first, float second) {
        all = {first, second};
        return norm->before_update(gradients);
    };
    CHECK(caught(1e30F, 0.0F).empty());  // too few steps so far
    CHECK(caught(0.0F, not_a_number).size() == 1);
    for (const float length : {1.0F, 2.0F, 1.0F, 2.0F}) CHECK(caught(3.0F * length, 4.0F * length).empty());
    // Norms are 1e30, 5, 10, 5, 10, so the median is 10.
    CHECK(caught(100.0F, 0.0F).empty());
    const std::vector<ddl::Finding> found = caught(0.0F, 100.1F);
    REQUIRE(found.size() == 1);
    CHECK(found[0].tensor == 1);
    CHECK(norm->repair_gradients(gradients));
    CHECK(all[1] == doctest::Approx(100.0));
    all = {infinite, 30.0F};
    CHECK(norm->repair_gradients(gradients));
    CHECK(all == std::array{0.0F, 30.0F});
}

TEST_CASE("checksum sees any bit that changes between update and forward, and no other change")
{
    const auto model = synthetic();
    const auto checksum = guard("checksum");
    const ddl::StateLook look{*model};
    const std::span<float> values = numbers(look.tensors().front());
    const auto update = [&] {
        ddl::StateLook now{*model};
        checksum->after_update(now);
    };
    const auto found = [&] {
        ddl::StateLook now{*model};
        return checksum->before_forward(now);
    };
    CHECK(found().empty());
    for (int bit = 0; bit < 32; ++bit) {
        values[0] += 0.125F;
        update();
        CHECK(found().empty());
        values[0] = flipped(values[0], bit);
        REQUIRE(found().size() == 1);
        CHECK(found()[0].tensor == 0);
        values[0] = 1.0F;
    }
}

TEST_CASE("of three ranks the one that is not as the others is named, of two none")
{
    using ddl::Difference;
    const Difference where{.step = 5, .rank = -1, .bucket = 2, .tensor = 7};
    const auto rank = [&](int one) {
        Difference named = where;
        named.rank = one;
        return named;
    };
    using All = std::vector<std::uint32_t>;
    CHECK(ddl::differences(All{4, 4, 4}, where).empty());
    CHECK(ddl::differences(All{4, 9, 4}, where) == std::vector{rank(1)});
    CHECK(ddl::differences(All{4, 9, 4, 4, 8}, where) == std::vector{rank(1), rank(4)});
    CHECK(ddl::differences(All{4, 9}, where) == std::vector{where});
    CHECK(ddl::differences(All{4, 9, 4, 9}, where) == std::vector{where});
    CHECK(ddl::differences(All{1, 2, 3}, where) == std::vector{where});
}

TEST_CASE("a rank is sound if most of those that nobody suspects are like it")
{
    using All = std::vector<ddl::TensorState>;
    CHECK(ddl::sound_rank(All{{4, 0}, {9, 0}, {4, 0}}) == 0);
    CHECK(ddl::sound_rank(All{{9, 0}, {4, 0}, {4, 0}}) == 1);
    CHECK(ddl::sound_rank(All{{9, 1}, {4, 0}}) == 1);
    CHECK(ddl::sound_rank(All{{9, 1}, {9, 1}, {4, 0}}) == 2);
    CHECK_FALSE(ddl::sound_rank(All{{9, 0}, {4, 0}}));
    CHECK_FALSE(ddl::sound_rank(All{{9, 1}, {9, 1}}));
}

TEST_CASE("a copy of the state gives it back to the bit")
{
    const auto model = synthetic();
    ddl::StateCopy copy;
    CHECK_FALSE(copy.steps_done());
    const ddl::StateLook look{*model};
    const std::span<float> values = numbers(look.tensors().front());
    values[0] = not_a_number;
    copy.keep(*model, 12);
    values[0] = 3.0F;
    copy.restore(*model);
    CHECK(std::isnan(values[0]));
    CHECK(copy.steps_done() == 12);
}

TEST_CASE("distances from an unaltered state")
{
    const std::vector<float> golden{3.0F, 4.0F, 1.0F, 0.0F};
    const std::vector<float> altered{3.0F, 4.5F, not_a_number, -0.0F};
    const ddl::TensorDistance found = ddl::distance(ddl::ElementType::float32, bytes(altered), bytes(golden));
    CHECK(found.differing == 3);  // -0 and 0 have different bits
    CHECK(found.not_finite == 1);
    CHECK(found.largest == 0.5);
    CHECK(found.relative_l2() == doctest::Approx(0.1));  // 0.5 divided by 5

    // 1 became 1e200, whose square overflows a double; the unaltered norm of 3, 4 and 1 is 26^0.5.
    const std::vector<double> doubles{3.0, 4.0, 1.0};
    const std::vector<double> huge{3.0, 4.0, 1e200};
    const ddl::TensorDistance far =
        ddl::distance(ddl::ElementType::float64, std::as_bytes(std::span{huge}), std::as_bytes(std::span{doubles}));
    CHECK(far.relative_l2() == doctest::Approx(1e200 / std::sqrt(26.0)).epsilon(1e-12));
}

TEST_CASE("guards are named with what they take")
{
    ddl::GuardPlan plan;
    ddl::parse_guards("range=2,norm[factor=5x],checksum,replicas", plan);
    CHECK(plan.guards.size() == 4);
    CHECK(plan.guards[0].options.at("bound") == "2");
    CHECK(plan.guards[1].options.at("factor") == "5x");
    CHECK(plan.replicas_every == 1);
    ddl::parse_reaction("rollback=20", plan);
    CHECK(plan.reaction == ddl::Reaction::rollback);
    CHECK(plan.copy_every == 20);
    CHECK(plan.acts_at_once());
    for (const char* wrong : {"rang", "range=x", "range=0", "checksum=1", "norm=1x", "norm,norm", "range[limit=2]"})
        CHECK_THROWS_AS(ddl::parse_guards(wrong, plan), base::UsageError);
    for (const char* wrong : {"restart", "tell=3", "rollback=0", "rollback=x"})
        CHECK_THROWS_AS(ddl::parse_reaction(wrong, plan), base::UsageError);
}
