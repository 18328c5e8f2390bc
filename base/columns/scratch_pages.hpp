// SPDX-License-Identifier: Apache-2.0
// Pages of bytes on disk, for data that may exceed memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace base::scratch {

inline constexpr std::size_t page_bytes = 8192;

// The pages are in an unnamed file in $TMPDIR, or in /var/tmp, since /tmp may itself be in memory. Each process has one
// file, created with its first page and gone when the process ends. A child of fork() starts with a file of its own, so
// it cannot read its parent's pages. All three functions throw std::system_error if there is no room.
std::uint32_t new_page();
void write_page(std::uint32_t page, const void* bytes);
void read_page(std::uint32_t page, void* bytes);
void free_page(std::uint32_t page) noexcept;

}  // namespace base::scratch
