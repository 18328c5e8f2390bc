// SPDX-License-Identifier: Apache-2.0
// A job that Score-P traces into an archive of its own, scorep-*/traces.otf2: its settings, and the offset of its clock
// from the noise's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace crosstalk {

// Does the environment ask Score-P for traces (SCOREP_ENABLE_TRACING)? None if the variable is not set.
std::optional<bool> scorep_tracing_is_asked_for();

// Prefix of a command: makes Score-P trace into that directory, with a timer whose clock is known. Settings in the
// environment take precedence.
std::vector<std::string> scorep_words(const std::filesystem::path& directory);

// The directory of the archive that Score-P wrote after `since`: the one that the environment names, else the newest
// scorep-* in `folder`.
std::optional<std::filesystem::path> scorep_directory(const std::filesystem::path& folder,
                                                      std::filesystem::file_time_type since);

// Has a program traced by Score-P started in `folder` after `since`?
bool started_scorep(const std::filesystem::path& folder, std::filesystem::file_time_type since);

// Times of an archive's events on its own clock.
struct ArchiveTimes {
    std::int64_t begin_ns = 0;
    std::int64_t length_ns = 0;
    std::optional<std::int64_t> realtime_ns;  // CLOCK_REALTIME at its start, if recorded
};

// The archive's clock properties, read by trace-info. Throws Error if the archive has none or is unsound.
ArchiveTimes archive_times(const std::filesystem::path& anchor, const std::filesystem::path& log);

// Begin and end of the job by CLOCK_MONOTONIC, and CLOCK_REALTIME - CLOCK_MONOTONIC.
struct JobTimes {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t realtime_ahead_ns = 0;
};

// The archive's clock minus CLOCK_MONOTONIC. The archive's clock is CLOCK_MONOTONIC, CLOCK_REALTIME, or one that the
// archive relates to CLOCK_REALTIME: the one on which the events lie within the job. Throws Error if there is none.
std::int64_t clock_ahead_ns(const ArchiveTimes& archive, const JobTimes& job);

}  // namespace crosstalk
