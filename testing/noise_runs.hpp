// SPDX-License-Identifier: Apache-2.0
// Runs the real noisegen, and locates its records.
#pragma once

#include "base/files.hpp"
#include "base/system/cpus.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/stressors/network/mpi_exchange.hpp"
#include "testing/testing.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace testing {

// A stressor whose memory fits on any machine.
inline const std::string tiny_memory = "memory.stream[bytes=2MiB]";

inline const std::string program = CROSSTALK_BIN "/noisegen";

// Environment of programs with MPI: MPI unloads its plug-ins at the end, after which LeakSanitizer cannot attribute
// their leaks.
inline const std::string without_leak_check = "ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0";

// The CPU on which single-CPU tests run.
inline std::string cpu()
{
    return std::to_string(*base::allowed_cpus().rbegin());
}

inline testing::Outcome run_noisegen(std::vector<std::string> words)
{
    words.insert(words.begin(), program);
    return testing::run(words);
}

// Directory of a rank's records, for a run into scratch / "run".
inline std::filesystem::path part(const testing::Scratch& scratch, int rank = 0)
{
    return scratch / "run" / "noise" / (base::host_name() + "." + std::to_string(rank));
}

// Returns false and skips the test if MPI is missing.
inline bool mpi_can_run()
{
    const bool can = testing::run({"sh", "-c", "command -v mpirun"}).status == 0 && noisegen::mpi_available();
    if (!can) testing::skip("no mpirun, or built without MPI");
    return can;
}

inline nlohmann::json record(const std::filesystem::path& part)
{
    return nlohmann::json::parse(base::read_whole(part / "noise.json"));
}

inline std::vector<std::string> long_run(const testing::Scratch& scratch, const std::string& schedule)
{
    return {program, "--schedule", schedule, "--cpus", cpu(), "--duration", "10min", "--out", scratch / "run"};
}

// True if the directory contains no file. Unnamed files do not count: they end with the process.
inline bool leaves_nothing(const std::filesystem::path& directory)
{
    return std::filesystem::is_empty(directory);
}

}  // namespace testing
