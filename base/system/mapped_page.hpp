// SPDX-License-Identifier: Apache-2.0
// A file's mapped page, of which the file may be cut short by anybody who may write it: the next look would be a bus
// error, and end the program.
#pragma once

#include <cstddef>

namespace base {

constexpr std::size_t mapped_page_bytes = 4096;

// From here on, a bus error in the page makes it zeroed memory of this process alone, says so in one line on stderr
// (the first time), and the program continues. Bus errors elsewhere do what they did before. Throws std::system_error.
void keep_without_file(void* page);

// Before the page is unmapped.
void forget_page(void* page);

// Was the file cut short since keep_without_file()? The page is this process's own then: no other process sees it.
bool page_lost(const void* page);

}  // namespace base
