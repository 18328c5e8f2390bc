// SPDX-License-Identifier: Apache-2.0
#include "base/columns/long_order.hpp"
#include "base/random.hpp"
#include "base/statistics.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace {

base::LongColumn<double> numbers(std::size_t count, std::uint64_t seed)
{
    base::Random random{seed};
    base::LongColumn<double> column;
    for (std::size_t i = 0; i < count; ++i) column.push_back(base::draw_unit(random) - 0.5);
    return column;
}

}  // namespace

TEST_CASE("a long column holds what was put in, in memory or on disk")
{
    for (const std::size_t count : {0UL, 1UL, 1023UL, 1024UL, 1025UL, 2048UL, 2049UL, 100'000UL}) {
        CAPTURE(count);
        base::LongColumn<std::int64_t> column;
        for (std::size_t i = 0; i < count; ++i) column.push_back(static_cast<std::int64_t>(i * i));
        REQUIRE(column.size() == count);
        bool same = true;
        std::size_t i = 0;
        for (const std::int64_t value : column) same = same && value == static_cast<std::int64_t>(i * i), ++i;
        CHECK(same);
        if (count == 0) continue;
        CHECK(column.front() == 0);
        CHECK(column.back() == static_cast<std::int64_t>((count - 1) * (count - 1)));
    }
}

TEST_CASE("a value on disk is altered in its column and in no copy of it")
{
    base::LongColumn<int> column(std::vector<int>(20'000, 1));
    const base::LongColumn<int> copy = column;
    for (const std::size_t i : {0UL, 5'000UL, 9'000UL, 19'999UL}) column[i] = 7;
    int sum = 0;
    for (const int value : column) sum += value;
    CHECK(sum == 20'000 + 4 * 6);
    CHECK(std::as_const(column)[5'000] == 7);
    CHECK(std::accumulate(copy.begin(), copy.end(), 0) == 20'000);
    column.resize(6'000);
    CHECK(column.size() == 6'000);
    CHECK(std::as_const(column)[5'000] == 7);
    column.resize(6'001, 3);
    CHECK(column.back() == 3);
}

TEST_CASE("medians and order statistics of long columns are those of all values in memory")
{
    for (const std::size_t count : {1UL, 2UL, 1'000UL, 140'001UL, 200'000UL}) {
        CAPTURE(count);
        const base::LongColumn<double> column = numbers(count, count);
        std::vector<double> values(column.begin(), column.end());
        CHECK(base::median(column) == base::median(values));
        std::sort(values.begin(), values.end());
        for (const std::size_t rank : {std::size_t{0}, count / 3, count - 1})
            CHECK(base::nth_value(column, 0, count, rank) == values[rank]);
    }
    CHECK(base::median(numbers(300'000, 4), 1'000, 299'000) == [] {
        const base::LongColumn<double> column = numbers(300'000, 4);
        return base::median(std::vector<double>(column.begin() + 1'000, column.begin() + 299'000));
    }());
}

TEST_CASE("a long column is sorted as it would be in memory")
{
    const base::LongColumn<double> column = numbers(900'000, 9);
    std::vector<double> values(column.begin(), column.end());
    std::sort(values.begin(), values.end(), std::greater<double>{});
    CHECK(base::sorted(column, std::greater<double>{}) == base::LongColumn<double>{values});
}
