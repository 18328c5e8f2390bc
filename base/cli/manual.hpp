// SPDX-License-Identifier: Apache-2.0
// A program's manual as plain data. Help, man page and bash completion are all written from it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace base {

struct OptionText {
    std::string group = {};                 // heading in the help: "Where"
    std::string name;                       // "cpus"
    std::string letter = {};                // "h"; empty: no letter
    std::string value = {};                 // "LIST"; empty: a switch. DIR and FILE... are completed as paths
    std::string help;                       // does not repeat the default
    std::string default_text = {};          // empty: no default
    std::vector<std::string> choices = {};  // accepted words; empty: any word
    bool several = false;                   // may be given more than once
};

// A term with its explanation and subordinate entries.
struct Entry {
    std::string term;
    std::string text;
    std::vector<Entry> below = {};
};

struct Section {
    std::string title;   // "Exit status"
    std::string text{};  // text before the entries; may be empty
    std::vector<Entry> entries{};
    bool in_help = true;  // false: only in the man page
};

// Words that an option's value may contain: plug-ins with options in brackets, and other forms.
struct PlugInWords {
    std::map<std::string, std::vector<std::string>> options;  // options by plug-in
    std::vector<std::string> forms{};                         // words that begin a value, such as "rotation("
};

struct Manual {
    std::string program;
    std::string summary;      // one line
    std::string description;  // paragraphs, separated by an empty line
    std::string synopsis;     // follows the program's name: "[options] TRACE..."
    std::vector<OptionText> options;
    std::vector<Section> sections;
    std::vector<std::string> examples;  // command lines
    std::string epilogue;
    std::string see_also;                         // "mpirun(1), srun(1)"; in the man page only
    std::map<std::string, PlugInWords> plug_ins;  // keyed by option name, or by `positional`
    std::string positional;                       // name of the words without dashes: "TRACE"
    std::vector<Manual> commands;                 // manuals of "git commit" and "git log" in that of "git"
};

// The last word of a command's name: "commit" of "git commit".
std::string command_word(const Manual& command);

// A section with one line for each command of the program.
Section commands_section(const Manual& manual);

// Options by heading, in the order they were added; options without a heading come last.
struct OptionGroup {
    std::string title;
    std::vector<OptionText> options;
};
std::vector<OptionGroup> option_groups(const Manual& manual);

// The man page in the man(7) language, for section 1.
std::string man_page(const Manual& manual);

// A script to be sourced by bash. It does not need the package bash-completion.
std::string bash_completion(const Manual& manual);

}  // namespace base
