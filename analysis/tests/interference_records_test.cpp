// SPDX-License-Identifier: Apache-2.0
// Records of noise that are complete, cut off or missing.
#include "base/files.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace fs = std::filesystem;
using testing::program;
using testing::verdict_in;

TEST_CASE("noise whose record is cut off or gone is not trusted, archives without records are")
{
    const testing::Scratch scratch;
    analysis::testing::write_run(scratch / "run", {});
    const auto reasons = [&] {
        fs::remove_all(scratch / "run/report");
        const testing::Outcome outcome = testing::run({program, "analyse", scratch / "run", "--draws", "0"});
        INFO(outcome.err);
        REQUIRE(fs::exists(scratch / "run/report/verdict.json"));
        return verdict_in(scratch / "run")["reasons"].dump();
    };
    const fs::path record = scratch / "run/noise/here.0/noise.json";
    fs::remove(record);
    CHECK(reasons().find("noise.json") == std::string::npos);
    for (const std::string text : {"", "{\"host\": \"here\"", "no JSON"}) {
        base::write_whole(record, text);
        CHECK(reasons().find("noise.json, cannot be read") != std::string::npos);
    }
    base::write_whole(record, R"({"host": "here"})");
    CHECK(reasons().find("noise.json") == std::string::npos);
    fs::remove(record);
    base::write_whole(scratch / "run/noise/here.0/noise.csv", "slot\n");
    CHECK(reasons().find("noise.json, is missing") != std::string::npos);
}
