// SPDX-License-Identifier: Apache-2.0
#include "base/cli/commands.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace {

int committed = 0;

struct Commit : base::Command {
    Commit() : Command{"git commit", "records what is staged"}
    {
        options.add("message", message, "what it does");
        message = "nothing";
    }
    int run() override
    {
        ++committed;
        return message == "bad" ? 5 : 0;
    }
    std::string message;
};

struct Log : base::Command {
    Log() : Command{"git log", "shows the commits"} {}
    int run() override { return 7; }
};

struct Arguments {
    Arguments(std::initializer_list<std::string> given) : words{given}
    {
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
    }
    int count() const { return static_cast<int>(words.size()); }
    char** values() { return pointers.data(); }
    std::vector<std::string> words;
    std::vector<char*> pointers;
};

std::string refusal(Arguments arguments)
try {
    base::Options program{"git", "a history of files"};
    base::run_program(program, base::commands<Commit, Log>(), arguments.count(), arguments.values());
    return "";
} catch (const base::UsageError& error) {
    return error.what();
}

}  // namespace

TEST_CASE("the first word chooses the command, which reads the options after it")
{
    committed = 0;
    Arguments good{"git", "commit", "--message", "good"};
    CHECK(base::run_command(base::commands<Commit, Log>(), good.count(), good.values()) == 0);
    Arguments bad{"git", "commit", "--message", "bad"};
    CHECK(base::run_command(base::commands<Commit, Log>(), bad.count(), bad.values()) == 5);
    CHECK(committed == 2);
    Arguments log{"git", "log"};
    CHECK(base::run_command(base::commands<Commit, Log>(), log.count(), log.values()) == 7);
}

TEST_CASE("an option, another word, or nothing is no command")
{
    Arguments option{"git", "--list"};
    CHECK_FALSE(base::run_command(base::commands<Commit, Log>(), option.count(), option.values()));
    Arguments other{"git", "blame"};
    CHECK_FALSE(base::run_command(base::commands<Commit, Log>(), other.count(), other.values()));
    Arguments nothing{"git"};
    CHECK_FALSE(base::run_command(base::commands<Commit, Log>(), nothing.count(), nothing.values()));
}

TEST_CASE("a word that is no command gets the right ones back")
{
    CHECK(refusal({"git", "comit"}) == "no command 'comit'; did you mean commit? (there are commit, log)");
    CHECK(refusal({"git"}) == "lacks a command: commit, log (git --help)");
}

TEST_CASE("a program of commands lists them in its help")
{
    base::Options program{"git", "a history of files"};
    for (const auto& command : base::commands<Commit, Log>()) program.command(command->options.manual());
    const std::string help = program.help();
    CHECK(help.find("git COMMAND ...") != std::string::npos);
    CHECK(help.find("\n  commit  records what is staged\n  log     shows the commits\n") != std::string::npos);
}

TEST_CASE("a command may have commands of its own")
{
    struct Remote : base::CommandGroup {
        Remote() : CommandGroup{"git remote", "other repositories", base::commands<Commit, Log>()} {}
    };
    const auto run = [](Arguments arguments) {
        return base::run_command(base::commands<Remote>(), arguments.count(), arguments.values());
    };
    CHECK(run({"git", "remote", "log"}) == 7);
    CHECK_THROWS_WITH_AS(run({"git", "remote", "lgo"}), "no command 'lgo'; did you mean log? (there are commit, log)",
                         base::UsageError);
    CHECK_THROWS_WITH_AS(run({"git", "remote"}), "lacks a command: commit, log (git remote --help)", base::UsageError);
    CHECK(Remote{}.options.help().find("\n  commit  records what is staged\n") != std::string::npos);
}
