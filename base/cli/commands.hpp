// SPDX-License-Identifier: Apache-2.0
// The commands of a program, "commit" and "log" of "git", each with options, help and man page of its own.
#pragma once

#include "base/cli/options.hpp"
#include "base/error.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace base {

// Its constructor adds the options; run() finds their values.
class Command {
 public:
    // `name` with the program's: "git commit".
    Command(const std::string& name, const std::string& summary) : options{name, summary} {}
    virtual ~Command() = default;
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    // Returns the exit code.
    virtual int run() = 0;

    // Reads the words behind its name, which is the first of them, and runs it.
    virtual int main(int argc, char** argv) { return options.parse(argc, argv) ? run() : exit_fine; }

    Options options;
};

using Commands = std::vector<std::unique_ptr<Command>>;

// A command whose uses are all commands: "git remote add" and "git remote remove" of "git remote".
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

// First words of the command line: "commit", "log".
std::vector<std::string> words_of(const Commands& commands);

// Runs the command that the first argument names. Returns its exit code, or none if the first argument names none.
std::optional<int> run_command(const Commands& commands, int argc, char** argv);

// Throws UsageError: the word is no command, with the right ones.
[[noreturn]] void fail_command(const std::string& word, const Commands& commands, const std::string& hint = {});

// main() of a program whose uses are all commands. `program` may hold options that end it, such as --list: `alone` is
// called after they are parsed; it returns false if none was given. Returns the exit code.
int run_program(
    Options& program, const Commands& commands, int argc, char** argv,
    const std::function<bool()>& alone = [] { return false; });

}  // namespace base
