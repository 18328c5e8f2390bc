// Output that is never half there: finished files appear by rename, a run's parts are claimed once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace base {

// Creates `run`/`part` (and the run's directory). Throws UsageError if the part is already there: nothing is
// overwritten.
std::filesystem::path claim_part(const std::filesystem::path& run, const std::filesystem::path& part);

// Writes beside the file and renames. Throws std::system_error; the old file stays if anything fails.
void write_whole(const std::filesystem::path& path, std::string_view content);

// Throws Error if it cannot be read.
std::string read_whole(const std::filesystem::path& path);

}  // namespace base
