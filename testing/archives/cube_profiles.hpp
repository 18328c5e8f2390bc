// SPDX-License-Identifier: Apache-2.0
// Profiles made by trace-cube, and their rows.
#pragma once

#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/archives/pycubexr.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/testing.hpp"
#include "trace-tools/cube/cubex.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace testing {

inline const std::string program = CROSSTALK_BIN "/trace-cube";

inline std::string make(const Scratch& scratch, const std::string& name, const std::string& spec)
{
    std::ofstream{scratch / (name + ".spec")} << spec;
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", scratch / (name + ".spec"), "-o", scratch / name}).status == 0);
    return scratch / name / "traces.otf2";
}

inline cube::CubeProfile profile_of(const Scratch& scratch, std::vector<std::string> words)
{
    words.insert(words.begin(), program);
    words.insert(words.end(), {"-o", scratch / "p.cubex"});
    std::filesystem::remove(scratch / "p.cubex");
    const Outcome outcome = run(words);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    return cube::read_cubex(scratch / "p.cubex");
}

inline std::string full_name(const cube::CubeProfile& profile, std::size_t path)
{
    const cube::CubeCallPath& one = profile.call_paths[path];
    const std::string name = profile.regions[one.region].name;
    return one.parent ? full_name(profile, *one.parent) + "/" + name : name;
}

// A metric's values for the call path with this full name, such as "step/work": one per location.
inline std::vector<double> row(const cube::CubeProfile& profile, const std::string& metric, const std::string& path)
{
    const cube::CubeMetric* const found = profile.find_metric(metric);
    REQUIRE(found != nullptr);
    for (const auto& [number, values] : found->rows)
        if (full_name(profile, number) == path) return values;
    return std::vector<double>(profile.locations.size());
}

inline bool has(const std::string& text, const std::string& words)
{
    return text.find(words) != std::string::npos;
}

// Checks a profile against what pycubexr read from its file; both list call paths depth first.
inline void check_equal(const cube::CubeProfile& profile, const nlohmann::json& found)
{
    REQUIRE(found["call_paths"].size() == profile.call_paths.size());
    std::size_t values = 0;
    for (const cube::CubeMetric& metric : profile.metrics) {
        if (metric.kind == cube::CubeMetric::Kind::derived) continue;
        const nlohmann::json& rows = found["metrics"][metric.unique_name]["values"];
        for (std::size_t path = 0; path < profile.call_paths.size(); ++path) {
            CHECK(found["call_paths"][path]["region"] == profile.regions[profile.call_paths[path].region].name);
            const auto row = metric.rows.find(path);
            for (std::size_t i = 0; i < profile.locations.size(); ++i, ++values)
                CHECK(rows[path][i].get<double>() == (row == metric.rows.end() ? 0.0 : row->second[i]));
        }
    }
    CHECK(values > 0);
}

// Two MPI threads whose calls do not overlap in time. With `with_main`, each thread's calls are inside a region `main`.
inline std::filesystem::path write_calls(const Scratch& scratch, const std::string& name, bool with_main)
{
    otf2::RawArchive archive{scratch / name};
    const std::uint64_t begin[] = {1000, 1500};
    const std::uint64_t end[] = {9000, 10000};
    for (const std::uint64_t one : {0, 1}) {
        if (with_main) archive.enter(one, begin[one], 2);
        archive.enter(one, begin[one], 0);
        archive.leave(one, 2000, 0);
        archive.enter(one, end[one] - 1000, 1);
        archive.leave(one, end[one], 1);
        if (with_main) archive.leave(one, end[one], 2);
    }
    archive.end_events();
    archive.clock(1000, 9000);
    archive.node(0, "host");
    for (const OTF2_LocationGroupRef one : {0, 1}) {
        archive.process(one, "rank " + std::to_string(one), 0);
        archive.location(one, "main", one);
    }
    archive.region(0, "MPI_Init", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI);
    archive.region(1, "MPI_Finalize", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI);
    archive.region(2, "main");
    archive.finish();
    return archive.anchor();
}

}  // namespace testing
