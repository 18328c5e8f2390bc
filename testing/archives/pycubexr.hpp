// SPDX-License-Identifier: Apache-2.0
// Reads .cubex files with pycubexr from PyPI, as a second opinion; check.sh installs it if it can reach PyPI.
#pragma once

#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace testing {

// Path of a python3 that can import pycubexr; empty if there is none.
inline std::string python_with_pycubexr()
{
    for (const char* one : {CROSSTALK_SOURCE "/build/python/bin/python", "/usr/bin/python3"})
        if (std::filesystem::exists(one) && run({one, "-c", "import pycubexr"}).status == 0) return one;
    return "";
}

// Everything pycubexr reads from a file. pycubexr asserts that no metric is derived; python3 -O skips the assertion,
// and derived metrics are then missing from the result.
inline nlohmann::json read_with_pycubexr(const std::string& python, const std::filesystem::path& file,
                                         const std::string& option = "-B")
{
    const Outcome outcome =
        run({python, option, CROSSTALK_SOURCE "/trace-tools/cube/tests/read_with_pycubexr.py", file.string()});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return nlohmann::json::parse(outcome.out);
}

}  // namespace testing
