// SPDX-License-Identifier: Apache-2.0
// Alters stored state, and undoes alterations.
#pragma once

#include "soft-errors/alteration/request.hpp"

#include <filesystem>
#include <iosfwd>

namespace soft_errors {

// Prints the tensors of the file (path, type, shape, role, layout), then the datasets that are left alone.
void list_tensors(std::ostream& out, const std::filesystem::path& file, const std::string& precision);

// Draws the alteration (or replays one), writes its record, alters the file, and prints what was altered. On any error
// nothing is changed.
void alter(std::ostream& out, const AlterRequest& request);

// Restores the bytes that the record holds. copy: path of the restored copy; empty: in place. Throws Error if the file
// is not that of the record.
void undo_alteration(std::ostream& out, const std::filesystem::path& file, const std::filesystem::path& copy,
                     const std::filesystem::path& record);

}  // namespace soft_errors
