// SPDX-License-Identifier: Apache-2.0
// Alters stored state, and takes it back.
#pragma once

#include "soft-errors/alteration/request.hpp"

#include <filesystem>
#include <iosfwd>

namespace soft_errors {

// The tensors of the file: path, type, shape, role, how they lie; then what is left alone.
void list_tensors(std::ostream& out, const std::filesystem::path& file, const std::string& precision);

// Draws (or replays), writes the record, and alters; prints what it did. Nothing is changed if anything is wrong.
void alter(std::ostream& out, const AlterRequest& request);

// Writes what the record says was there. `copy`: to a copy; empty: in place. Throws Error if the file is not the
// record's.
void undo_alteration(std::ostream& out, const std::filesystem::path& file, const std::filesystem::path& copy,
                     const std::filesystem::path& record);

}  // namespace soft_errors
