// SPDX-License-Identifier: Apache-2.0
// Runs `interference` on directories of runs, and reads its results.
#pragma once

#include "base/files.hpp"
#include "testing/testing.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace testing {

inline const std::string program = std::string{CROSSTALK_BIN} + "/interference";

inline Outcome analyse(const std::filesystem::path& run, const std::vector<std::string>& more = {})
{
    std::vector<std::string> words{program, "analyse", run.string(), "--draws", "1999"};
    words.insert(words.end(), more.begin(), more.end());
    return testing::run(words);
}

inline nlohmann::json verdict_in(const std::filesystem::path& run)
{
    return nlohmann::json::parse(base::read_whole(run / "report/verdict.json"));
}

inline bool one_line(const std::string& text)
{
    return std::ranges::count(text, '\n') == 1;
}

}  // namespace testing
