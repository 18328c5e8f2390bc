// SPDX-License-Identifier: Apache-2.0
// A program's manual as plain data, and its man page and bash completion written from it: no second list.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace base {

struct OptionText {
    std::string group = {};                 // the heading it stands under, "Where"
    std::string name;                       // "cpus"
    std::string letter = {};                // "h"; most have none
    std::string value = {};                 // "LIST"; empty: a switch. DIR and FILE... are completed as such
    std::string help;                       // without the default
    std::string default_text = {};          // empty: none
    std::vector<std::string> choices = {};  // the words it takes; empty: others too
    bool several = false;                   // may be given several times
};

// A term's explanation, with entries of its own below.
struct Entry {
    std::string term;
    std::string text;
    std::vector<Entry> below = {};
};

struct Section {
    std::string title;  // "Exit status"
    std::string text;   // before the entries; may be empty
    std::vector<Entry> entries;
    bool in_help = true;  // else only in the man page
};

// Words that an option's value may contain: plug-ins with options in brackets, among others.
struct PlugInWords {
    std::map<std::string, std::vector<std::string>> options;  // by plug-in
    std::vector<std::string> forms;                           // "rotation(": words that begin a value
};

struct Manual {
    std::string program;
    std::string summary;      // one line
    std::string description;  // paragraphs, an empty line between two
    std::string synopsis;     // after the program's name: "[options] TRACE..."
    std::vector<OptionText> options;
    std::vector<Section> sections;
    std::vector<std::string> examples;  // lines, as they are typed
    std::string epilogue;
    std::string see_also;                         // "mpirun(1), srun(1)"; for the man page alone
    std::map<std::string, PlugInWords> plug_ins;  // by option, or by `positional`
    std::string positional;                       // what the words without dashes are called: "TRACE"
    std::vector<Manual> commands;                 // whose programs are "git commit", "git log" of "git"
};

// "commit" of "git commit".
std::string command_word(const Manual& command);

// A line for each of the program's commands.
Section commands_section(const Manual& manual);

// The options under their headings, in the order they were added; those without one come last.
struct OptionGroup {
    std::string title;
    std::vector<OptionText> options;
};
std::vector<OptionGroup> option_groups(const Manual& manual);

// In the man(7) language, section 1.
std::string man_page(const Manual& manual);

// A script to be sourced. Needs nothing but bash: not the package bash-completion.
std::string bash_completion(const Manual& manual);

}  // namespace base
