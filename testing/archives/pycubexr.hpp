// SPDX-License-Identifier: Apache-2.0
// A second reader of .cubex files, from PyPI; check.sh installs it where there is a network.
#pragma once

#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace testing {

// A python3 that has pycubexr; empty if there is none.
inline std::string python_with_pycubexr()
{
    for (const char* one : {CROSSTALK_SOURCE "/build/python/bin/python", "/usr/bin/python3"})
        if (std::filesystem::exists(one) && run({one, "-c", "import pycubexr"}).status == 0) return one;
    return "";
}

// All that pycubexr finds in a file. It asserts that no metric is derived: with the option -O it only leaves those out.
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
