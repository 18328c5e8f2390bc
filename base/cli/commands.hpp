// SPDX-License-Identifier: Apache-2.0
// Commands of a program, such as "commit" and "log" of "git". Each has its own options, help and man page.
#pragma once

#include "base/cli/options.hpp"
#include "base/error.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace base {

// A command. Its constructor adds the options; run() finds their values.
class Command {
 public:
    // `name` includes the program's name: "git commit".
    Command(const std::string& name, const std::string& summary) : options{name, summary} {}
    virtual ~Command() = default;
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    // Returns the exit code.
    virtual int run() = 0;

    // Parses the command line, whose first word is the command's name, and runs the command.
    virtual int main(int argc, char** argv) { return options.parse(argc, argv) ? run() : exit_fine; }

    Options options;
};

using Commands = std::vector<std::unique_ptr<Command>>;

// A command that has only subcommands: "git remote" with "git remote add" and "git remote remove".
class CommandGroup : public Command {
 public:
    CommandGroup(const std::string& name, const std::string& summary, Commands commands);
    int run() override;
    int main(int argc, char** argv) override;

 private:
    Commands commands_;
};

template <class... All>
Commands commands()
{
    Commands all;
    (all.push_back(std::make_unique<All>()), ...);
    return all;
}

// The names of the commands: "commit", "log".
std::vector<std::string> words_of(const Commands& commands);

// Runs the command that the first argument names. Returns its exit code, or none if the first argument is not a
// command.
std::optional<int> run_command(const Commands& commands, int argc, char** argv);

// Throws UsageError: the word is not a command; the message suggests the right ones.
[[noreturn]] void fail_command(const std::string& word, const Commands& commands, const std::string& hint = {});

// main() of a program that has only commands. `program` may have options that end it, such as --list: `alone` is called
// after they are parsed and returns false if none was given. Returns the exit code.
int run_program(
    Options& program, const Commands& commands, int argc, char** argv,
    const std::function<bool()>& alone = [] { return false; });

}  // namespace base
