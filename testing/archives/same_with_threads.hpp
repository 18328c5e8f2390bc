// SPDX-License-Identifier: Apache-2.0
// Runs programs with different numbers of threads, to check that they write the same bytes.
#pragma once

#include "base/files.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace testing {

// The program's output and all files that it writes for an archive, as one string.
inline std::string written(const std::filesystem::path& anchor, const std::string& program, int threads)
{
    const Scratch scratch;
    const std::filesystem::path out = scratch / (program == "trace-cube" ? "found.cubex" : "found");
    const Outcome outcome =
        run({CROSSTALK_BIN + std::string{"/"} + program, anchor, "--threads", std::to_string(threads), "-o", out});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    std::string all = outcome.err;
    std::vector<std::filesystem::path> files{out};
    if (std::filesystem::is_directory(out)) {
        files.clear();
        for (const auto& entry : std::filesystem::directory_iterator{out}) files.push_back(entry.path());
        std::ranges::sort(files);
    }
    for (const std::filesystem::path& file : files) {
        const std::string content = base::read_whole(file);
        CHECK(!content.empty());
        all += file.filename().string() + "\n" + content;
    }
    if (program != "trace-cube") all += outcome.out;  // trace-cube prints its file's name, which differs
    return all;
}

inline void check_same_with_threads(const std::filesystem::path& anchor)
{
    INFO(anchor.string());
    for (const std::string program : {"trace-waits", "trace-path", "trace-cube"}) {
        if (!std::filesystem::exists(CROSSTALK_BIN + std::string{"/"} + program)) continue;  // trace-cube is optional
        const std::string one = written(anchor, program, 1);
        for (const int threads : {2, 4}) {
            INFO(program, " with ", threads, " threads");
            const bool same = one == written(anchor, program, threads);
            CHECK(same);
        }
    }
}

}  // namespace testing
