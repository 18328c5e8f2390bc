// SPDX-License-Identifier: Apache-2.0
// Record of an alteration: R.json, R.csv with a row for each number, and R.undo with the old bytes. It is written and
// synced to the device before the first byte of the state changes. Members and columns: docs/formats.md.
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
    std::string path;  // "model/layers.0.weight", without a leading slash
    NumberFormat format = float32;
    std::vector<std::uint64_t> shape;  // empty: a single number
};

struct AlteredNumber {
    std::size_t tensor = 0;   // index in the record's `tensors`
    std::uint64_t index = 0;  // index in the tensor, row by row
    std::uint64_t before = 0;
    std::uint64_t after = 0;
};

struct AlterationRecord {
    nlohmann::ordered_json about;  // R.json without `tensors`, `crc32c` and the names of the other files
    std::vector<AlteredTensor> tensors{};
    std::vector<AlteredNumber> numbers{};  // by tensor and index
    std::optional<double> scale;           // factor, if numbers were multiplied instead of bits flipped
};

// Paths of R.csv and R.undo for R.json.
std::filesystem::path rows_of(std::filesystem::path record);
std::filesystem::path undo_of(std::filesystem::path record);

// undo: the content of R.undo. Throws UsageError if one of the three files exists, std::system_error if writing fails.
// On an error, files made by this call are removed.
void write_alteration(const std::filesystem::path& record, const AlterationRecord& alteration, const std::string& undo);

// Removes the three files, of an alteration that has changed nothing.
void remove_alteration(const std::filesystem::path& record);

// Throws Error, with the file's name, if a file is missing, damaged or belongs to another record.
AlterationRecord read_alteration(const std::filesystem::path& record);
std::string read_undo(const std::filesystem::path& record);

// True if the JSON is such a record, not that of another program.
bool is_alteration(const nlohmann::ordered_json& json);

}  // namespace soft_errors
