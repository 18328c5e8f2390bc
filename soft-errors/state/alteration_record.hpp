// SPDX-License-Identifier: Apache-2.0
// Record of an alteration: R.json, and beside it R.csv with a row for each number and R.undo with the bytes that
// were there. Written, and on the device, before the first byte changes. docs/formats.md has members and columns.
#pragma once

#include "soft-errors/state/number_format.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace soft_errors {

constexpr int alteration_format = 1;
inline constexpr const char* undo_mark = "XTUNDO1\n";  // R.undo begins with it

struct AlteredTensor {
    std::string path;  // "model/layers.0.weight", without a slash in front
    NumberFormat format = float32;
    std::vector<std::uint64_t> shape;  // empty: a single number
};

struct AlteredNumber {
    std::size_t tensor = 0;   // its place among the record's
    std::uint64_t index = 0;  // row by row
    std::uint64_t before = 0;
    std::uint64_t after = 0;
};

struct AlterationRecord {
    nlohmann::ordered_json about;  // R.json but for `tensors`, `crc32c` and what names the other files
    std::vector<AlteredTensor> tensors;
    std::vector<AlteredNumber> numbers;  // by tensor and index
    std::optional<double> scale;         // numbers were multiplied, and no bits flipped
};

// R.csv and R.undo of R.json.
std::filesystem::path rows_of(std::filesystem::path record);
std::filesystem::path undo_of(std::filesystem::path record);

// `undo`: the content of R.undo. Throws UsageError if one of the three exists already, std::system_error. On an
// error, files made by this call are removed.
void write_alteration(const std::filesystem::path& record, const AlterationRecord& alteration, const std::string& undo);

// Takes the three away: of an alteration that has changed nothing.
void remove_alteration(const std::filesystem::path& record);

// Throws Error that names the file if one is missing, damaged or not of this record.
AlterationRecord read_alteration(const std::filesystem::path& record);
std::string read_undo(const std::filesystem::path& record);

// Is it such a record, and no JSON of another program?
bool is_alteration(const nlohmann::ordered_json& json);

}  // namespace soft_errors
