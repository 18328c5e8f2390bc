// SPDX-License-Identifier: Apache-2.0
// Archives made with known answers, and what the replay finds in them.
#pragma once

#include "base/csv.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/replay/mpi_replay.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace testing {

// Seconds per combination of key columns (rank, region, ...).
using Seconds = std::map<std::vector<std::string>, double>;

inline Seconds table(const std::filesystem::path& file, const std::vector<std::string>& columns,
                     const std::string& of = "seconds")
{
    const base::CsvTable csv{file};
    Seconds seconds;
    for (std::size_t row = 0; row < csv.rows(); ++row) {
        std::vector<std::string> key;
        for (const std::string& column : columns) key.push_back(csv.text(row, column));
        if (csv.get<double>(row, of) > 0.0) seconds[key] += csv.get<double>(row, of);
    }
    return seconds;
}

inline Seconds waits(const std::filesystem::path& directory)
{
    return table(directory / "waits.csv", {"pattern", "region", "rank", "step", "count"});
}

inline Seconds path(const std::filesystem::path& directory)
{
    return table(directory / "path.csv", {"region", "rank"});
}

inline double sum(const std::filesystem::path& file, const std::string& column, const std::string& name,
                  const std::string& value)
{
    const base::CsvTable csv{file};
    double all = 0.0;
    for (std::size_t row = 0; row < csv.rows(); ++row)
        if (csv.text(row, name) == value) all += csv.get<double>(row, column);
    return all;
}

inline double sum_of(const std::filesystem::path& file, const std::string& column)
{
    const base::CsvTable csv{file};
    double all = 0.0;
    for (std::size_t row = 0; row < csv.rows(); ++row) all += csv.get<double>(row, column);
    return all;
}

struct Analysed {
    Scratch scratch;
    std::filesystem::path made = scratch / "made";
    std::filesystem::path found = scratch / "found";
    std::string complaints;
};

inline void analyse(Analysed& run, const std::filesystem::path& anchor)
{
    for (const char* tool : {"/trace-waits", "/trace-path"}) {
        const Outcome outcome = testing::run({CROSSTALK_BIN + std::string{tool}, anchor, "-o", run.found});
        REQUIRE(outcome.status == 0);
        run.complaints += outcome.err;
    }
}

inline void make_and_analyse(Analysed& run, const std::string& spec)
{
    std::ofstream{run.scratch / "spec"} << spec;
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", run.scratch / "spec", "-o", run.made}).status == 0);
    analyse(run, run.made / "traces.otf2");
}

inline void check_equal(const Seconds& truth, const Seconds& found)
{
    CHECK(truth.size() == found.size());
    for (const auto& [key, seconds] : truth) {
        const auto there = found.find(key);
        REQUIRE(there != found.end());
        CHECK(std::abs(there->second - seconds) <= 1e-9 * seconds);
    }
}

// Checks that trace-waits and trace-path found the waits and the critical path that trace-synth wrote into the archive.
inline void check_answers(const Analysed& run)
{
    CHECK(run.complaints.empty());
    check_equal(waits(run.made), waits(run.found));
    check_equal(path(run.made), path(run.found));
}

}  // namespace testing
