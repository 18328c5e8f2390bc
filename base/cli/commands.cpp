// SPDX-License-Identifier: Apache-2.0
#include "base/cli/commands.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

namespace base {

std::vector<std::string> words_of(const Commands& commands)
{
    std::vector<std::string> words;
    for (const auto& command : commands) words.push_back(command_word(command->options.manual()));
    return words;
}

std::optional<int> run_command(const Commands& commands, int argc, char** argv)
{
    if (argc < 2) return {};
    for (const auto& command : commands)
        if (argv[1] == command_word(command->options.manual())) return command->main(argc - 1, argv + 1);
    return {};
}

void fail_command(const std::string& word, const Commands& commands, const std::string& hint)
{
    const std::vector<std::string> words = words_of(commands);
    fail_usage("no command '", word, "'", did_you_mean(word, words), " (there are ", join_words(words, ", "),
               hint.empty() ? "" : "; " + hint, ")");
}

CommandGroup::CommandGroup(const std::string& name, const std::string& summary, Commands commands)
    : Command{name, summary}, commands_{std::move(commands)}
{
    for (const auto& command : commands_) options.command(command->options.manual());
}

int CommandGroup::run()
{
    fail_usage("lacks a command: ", join_words(words_of(commands_), ", "), " (", options.manual().program, " --help)");
}

int CommandGroup::main(int argc, char** argv)
{
    if (const std::optional<int> code = run_command(commands_, argc, argv)) return *code;
    if (argc > 1 && argv[1][0] != '-') fail_command(argv[1], commands_);
    return Command::main(argc, argv);
}

int run_program(Options& program, const Commands& commands, int argc, char** argv, const std::function<bool()>& alone)
{
    if (const std::optional<int> code = run_command(commands, argc, argv)) return *code;
    if (argc > 1 && argv[1][0] != '-') fail_command(argv[1], commands);
    for (const auto& command : commands) program.command(command->options.manual());
    if (!program.parse(argc, argv) || alone()) return exit_fine;
    fail_usage("lacks a command: ", join_words(words_of(commands), ", "), " (", program.manual().program, " --help)");
}

}  // namespace base
