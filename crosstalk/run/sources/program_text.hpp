// SPDX-License-Identifier: Apache-2.0
// Classifies words of a command by their names and by the contents of files that they name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crosstalk {

// Is it a Python script, by its name?
bool is_script(const std::string& word);

// Contents of a script, or of a program on PATH, of up to 64 MiB; empty if it is neither or cannot be read.
std::string text_of(const std::string& word);

// Is the text that of an ELF executable or library?
bool is_program(const std::string& text);

// Does a script contain a line "import crosstalk" or "from crosstalk import ..", at any indentation?
bool imports_crosstalk(std::string_view text);

// Is the command of the form python3 -m NAME?
bool runs_module(const std::vector<std::string>& command, const std::string& name);

}  // namespace crosstalk
