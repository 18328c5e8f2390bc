// SPDX-License-Identifier: Apache-2.0
// Runs noisegen with network noise, and reads its records.
#pragma once

#include "base/csv.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/child.hpp"
#include "testing/made_stressor.hpp"
#include "testing/noise_runs.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace testing {

inline std::vector<std::string> noisegen_words(const std::string& schedule, const std::string& duration,
                                               const std::filesystem::path& out)
{
    return {program, "--schedule", schedule, "--cpus", cpu(), "--share", "--duration", duration, "--out", out};
}

inline std::filesystem::path part(const std::filesystem::path& run, int rank = 0)
{
    return run / "noise" / (base::host_name() + "." + std::to_string(rank));
}

inline nlohmann::json record_of(const std::filesystem::path& run, int rank = 0)
{
    return nlohmann::json::parse(base::read_whole(part(run, rank) / "noise.json"));
}

inline std::string how(const std::filesystem::path& run, int rank = 0)
{
    return record_of(run, rank).at("stressors").at(0).at("how").get<std::string>();
}

inline std::uint64_t sum(const std::filesystem::path& run, int rank, const std::string& column)
{
    const base::CsvTable csv{part(run, rank) / "noise.csv"};
    std::uint64_t all = 0;
    for (std::size_t row = 0; row < csv.rows(); ++row)
        all += static_cast<std::uint64_t>(csv.get<std::int64_t>(row, column));
    return all;
}

}  // namespace testing
