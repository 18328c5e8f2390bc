// SPDX-License-Identifier: Apache-2.0
// Pages of bytes on disk, for what may be more than memory holds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace base::scratch {

inline constexpr std::size_t page_bytes = 8192;

// In an unnamed file in $TMPDIR, or in /var/tmp: /tmp may itself be memory. One a process, made with its first page,
// gone with the process. A child of fork() starts with a file of its own, so it cannot read the pages of its parent.
// Throws std::system_error where there is no room.
std::uint32_t new_page();
void write_page(std::uint32_t page, const void* bytes);
void read_page(std::uint32_t page, void* bytes);
void free_page(std::uint32_t page) noexcept;

}  // namespace base::scratch
