// SPDX-License-Identifier: Apache-2.0
// A job that Score-P traces into an archive of its own, scorep-*/traces.otf2: how it is set up, and what its archive's
// clock is to the noise's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace crosstalk {

// Whether the environment asks Score-P for traces (SCOREP_ENABLE_TRACING); none if it does not say.
std::optional<bool> scorep_tracing_is_asked_for();

// In front of a command: lets Score-P trace into that directory, by a timer whose clock is known. What the environment
// says already, stays.
std::vector<std::string> scorep_words(const std::filesystem::path& directory);

// The directory of the archive that Score-P wrote since then: the one that the environment names, else the newest
// scorep-* in that folder.
std::optional<std::filesystem::path> scorep_directory(const std::filesystem::path& folder,
                                                      std::filesystem::file_time_type since);

// Has a program that Score-P traces begun there since then?
bool started_scorep(const std::filesystem::path& folder, std::filesystem::file_time_type since);

// When an archive's events are, by its own clock.
struct ArchiveTimes {
    std::int64_t begin_ns = 0;
    std::int64_t length_ns = 0;
    std::optional<std::int64_t> realtime_ns;  // CLOCK_REALTIME at its begin, if it says
};

// The archive's clock properties, which trace-info reads. Throws Error for an archive without them, or an unsound one.
ArchiveTimes archive_times(const std::filesystem::path& anchor, const std::filesystem::path& log);

// When the job was, by CLOCK_MONOTONIC, and by how much CLOCK_REALTIME was ahead of that.
struct JobTimes {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t realtime_ahead_ns = 0;
};

// By how much the archive's clock is ahead of CLOCK_MONOTONIC. It is that clock, CLOCK_REALTIME, or one that the
// archive ties to the latter: on it the events lie within the job. Throws Error where they do on none.
std::int64_t clock_ahead_ns(const ArchiveTimes& archive, const JobTimes& job);

}  // namespace crosstalk
