// SPDX-License-Identifier: Apache-2.0
// Classifies the words of a command, by name and by the contents of the files that they name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crosstalk {

// A Python script, by its name.
bool is_script(const std::string& word);

// Contents of a script, or of a program on PATH, of up to 64 MiB; empty if it is neither, or cannot be read.
std::string text_of(const std::string& word);

// Such a text of an executable or a library (ELF).
bool is_program(const std::string& text);

// Has a script a line "import crosstalk", or "from crosstalk import ..", at any depth?
bool imports_crosstalk(std::string_view text);

// python3 -m NAME
bool runs_module(const std::vector<std::string>& command, const std::string& name);

}  // namespace crosstalk
