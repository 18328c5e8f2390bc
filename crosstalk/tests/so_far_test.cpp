// SPDX-License-Identifier: Apache-2.0
// The status line of a run in progress: a file that cannot be read gives an empty result and does not end the run.
#include "crosstalk/run/so_far.hpp"

#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>

TEST_CASE("what cannot be read of a run so far is no line")
{
    const testing::Scratch scratch;
    const auto read = [&](const std::string& text) {
        std::ofstream{scratch / "so_far.json"} << text;
        return crosstalk::read_so_far(scratch / "so_far.json");
    };
    CHECK(read(R"({"line": "10 s: mem +1 %", "decided": true})").line == "10 s: mem +1 %");
    CHECK(read(R"({"line": "10 s: mem +1 %", "decided": true})").decided);
    CHECK_FALSE(read(R"({"line": "10 s"})").decided);
    for (const char* wrong : {"", "{", "[]", "null", R"({"line": 3, "decided": "yes"})"}) {
        CAPTURE(wrong);
        CHECK(read(wrong).line.empty());
        CHECK_FALSE(read(wrong).decided);
    }
}
