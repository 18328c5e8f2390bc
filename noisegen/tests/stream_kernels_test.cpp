// SPDX-License-Identifier: Apache-2.0
// The loops of memory.stream: each computes its formula in every vector width. aarch64_test.sh runs this test on
// another processor.
#include "noisegen/stressors/memory/stream_kernels.hpp"

#include "noisegen/stressors/pages.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace {

constexpr std::size_t items = 6 * noisegen::page_items;

// Three arrays whose values have exact sums and halves.
struct Arrays {
    noisegen::Pages pages{3 * items * sizeof(double)};
    noisegen::StreamArrays x;

    Arrays()
    {
        double* const all = static_cast<double*>(pages.data());
        x = {.a = all, .b = all + items, .c = all + 2 * items, .items = items};
        for (std::size_t i = 0; i < items; ++i) {
            x.a[i] = 4.0 + static_cast<double>(i);
            x.b[i] = static_cast<double>(3 * i);
            x.c[i] = static_cast<double>(items - i);
        }
    }
};

double formula(const std::string& shape, std::size_t i)
{
    const double a = 4.0 + static_cast<double>(i);
    const auto b = static_cast<double>(3 * i);
    const auto c = static_cast<double>(items - i);
    if (shape == "triad") return b + 0.5 * c;
    if (shape == "copy") return b;
    if (shape == "scale") return 0.5 * b;
    if (shape == "add") return b + c;
    if (shape == "update" || shape == "pageupdate") return 0.5 * a + 0.5;
    if (shape == "read") return a;
    return 0.5;  // shapes that only write
}

}  // namespace

TEST_CASE("each memory loop computes its formula, from part to part, in every width of vectors")
{
    REQUIRE(std::string{noisegen::stream_loops().back().unit} == "portable");
    for (const noisegen::StreamLoops& loops : noisegen::stream_loops())
        for (const std::string& shape : noisegen::stream_shapes()) {
            CAPTURE(loops.unit);
            CAPTURE(shape);
            Arrays arrays;
            const noisegen::StreamLoop loop = loops.*noisegen::stream_shape(shape).loop;
            const double sum = loop(arrays.x, 0, 2 * noisegen::page_items) +
                               loop(arrays.x, 2 * noisegen::page_items, 4 * noisegen::page_items);
            std::size_t wrong = 0;
            double expected_sum = 0.0;
            for (std::size_t i = 0; i < items; ++i) {
                if (arrays.x.a[i] != formula(shape, i)) ++wrong;
                if (arrays.x.b[i] != static_cast<double>(3 * i)) ++wrong;
                if (arrays.x.c[i] != static_cast<double>(items - i)) ++wrong;
                if (shape == "read") expected_sum += formula(shape, i);
            }
            CHECK(wrong == 0);
            CHECK(sum == expected_sum);
        }
}

TEST_CASE("a memory loop stays within its part")
{
    for (const noisegen::StreamLoops& loops : noisegen::stream_loops())
        for (const std::string& shape : noisegen::stream_shapes()) {
            if (shape.starts_with("pa")) continue;  // partial, pagewrite, pageupdate: tested below
            CAPTURE(loops.unit);
            CAPTURE(shape);
            Arrays arrays;
            (loops.*noisegen::stream_shape(shape).loop)(arrays.x, noisegen::page_items, noisegen::page_items);
            std::size_t touched = 0;
            for (std::size_t i = 0; i < items; ++i)
                if (i / noisegen::page_items != 1 && arrays.x.a[i] != 4.0 + static_cast<double>(i)) ++touched;
            CHECK(touched == 0);
        }
}

TEST_CASE("partial stores are a page apart")
{
    for (const noisegen::StreamLoops& loops : noisegen::stream_loops()) {
        CAPTURE(loops.unit);
        Arrays arrays;
        // A page of stores: 85 times down the six pages, and two more stores.
        loops.partial(arrays.x, 0, noisegen::page_items);
        std::map<std::size_t, std::size_t> in_page;
        for (std::size_t i = 0; i < items; ++i)
            if (arrays.x.a[i] == 0.5) ++in_page[i / noisegen::page_items];
        CHECK(in_page == std::map<std::size_t, std::size_t>{{0, 86}, {1, 86}, {2, 85}, {3, 85}, {4, 85}, {5, 85}});
        CHECK(arrays.x.a[84] == 0.5);
        CHECK(arrays.x.a[86] != 0.5);
    }
}

TEST_CASE("lines by pages are one in each page before there are two in any")
{
    constexpr std::size_t line = 8;
    for (const noisegen::StreamLoops& loops : noisegen::stream_loops()) {
        CAPTURE(loops.unit);
        Arrays arrays;
        // A page of items has 64 lines: ten in each of the six pages, and one more in the first four.
        loops.pagewrite(arrays.x, 0, noisegen::page_items);
        std::map<std::size_t, std::size_t> in_page;
        for (std::size_t i = 0; i < items; ++i)
            if (arrays.x.a[i] == 0.5) ++in_page[i / noisegen::page_items];
        CHECK(in_page == std::map<std::size_t, std::size_t>{{0, 88}, {1, 88}, {2, 88}, {3, 88}, {4, 80}, {5, 80}});
        CHECK(arrays.x.a[11 * line - 1] == 0.5);
        CHECK(arrays.x.a[11 * line] == 4.0 + 88.0);
        // The next part continues where the previous one ended.
        loops.pageupdate(arrays.x, noisegen::page_items, noisegen::page_items);
        const std::size_t fifth = 4 * noisegen::page_items;
        CHECK(arrays.x.a[fifth + 10 * line] == 0.5 * (4.0 + static_cast<double>(fifth + 10 * line)) + 0.5);
        CHECK(arrays.x.a[fifth + 9 * line] == 0.5);
    }
}
