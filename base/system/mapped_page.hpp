// SPDX-License-Identifier: Apache-2.0
// Protection of a mapped file page: any process with write permission may truncate the file, and the next access would
// end this program by a bus error.
#pragma once

#include <cstddef>

namespace base {

constexpr std::size_t mapped_page_bytes = 4096;

// After this call a bus error in the page replaces it by zeroed memory of this process, prints one line on stderr (the
// first time), and the program continues. Bus errors elsewhere are handled as before. Throws std::system_error.
void keep_without_file(void* page);

// Call it before the page is unmapped.
void forget_page(void* page);

// Was the file truncated since keep_without_file()? Then the page is private to this process.
bool page_lost(const void* page);

}  // namespace base
