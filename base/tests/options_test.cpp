// SPDX-License-Identifier: Apache-2.0
// The command line: typed values, a config file, and suggestions for misspelt words.
#include "base/cli/options.hpp"

#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>

using namespace base;
using namespace std::chrono_literals;

namespace {

// A small program's options, parsed from words.
struct OptionsFixture {
    Nanoseconds duration = 60s;
    std::int64_t seed = 1;
    bool dry_run = false;
    std::string strategy = "ddp";
    Options options{"noisegen", "reproducible stress"};

    OptionsFixture()
    {
        options.add("duration", duration, "how long");
        options.add("seed", seed, "of the order of slots");
        options.add_switch("dry-run", dry_run, "print the slot table and end");
        options.add_choice("strategy", strategy, {"none", "naive", "ddp"}, "how gradients are exchanged");
    }

    bool parse(std::vector<std::string> words)
    {
        words.insert(words.begin(), "noisegen");
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        return options.parse(static_cast<int>(arguments.size()), arguments.data());
    }

    std::string complaint(const std::vector<std::string>& words)
    {
        try {
            parse(words);
        } catch (const UsageError& error) {
            return error.what();
        }
        return "none";
    }
};

}  // namespace

TEST_CASE_FIXTURE(OptionsFixture, "values are typed and defaults stay")
{
    CHECK(parse({"--duration", "1.5s", "--dry-run"}));
    CHECK(duration == 1500ms);
    CHECK(seed == 1);
    CHECK(dry_run);
    CHECK(options.given("duration"));
    CHECK_FALSE(options.given("seed"));
}

TEST_CASE_FIXTURE(OptionsFixture, "a wrong option gets the right one back")
{
    CHECK(complaint({"--duraton", "1s"}) ==
          "no option '--duraton'; did you mean --duration? (noisegen --help shows all)");
}

TEST_CASE_FIXTURE(OptionsFixture, "a wrong value names its option")
{
    CHECK(complaint({"--duration", "fast"}) == "--duration: 'fast' is not a number with a unit, such as 1.5s");
    CHECK(complaint({"--strategy", "dpp"}) == "--strategy: 'dpp' is not one of none|naive|ddp; did you mean ddp?");
}

TEST_CASE_FIXTURE(OptionsFixture, "of parts those that are named are left, and a wrong name gets the right ones back")
{
    const std::vector<std::pair<std::string, int>> all{{"write", 1}, {"read", 2}, {"random", 3}};
    std::vector<std::pair<std::string, int>> parts = all;
    options.add_parts("part", parts);
    CHECK(parse({}));
    CHECK(parts == all);
    CHECK(complaint({"read", "writ"}) == "'writ' is not one of write|read|random; did you mean write?");
    CHECK(parse({"random", "write"}));
    CHECK(parts == std::vector<std::pair<std::string, int>>{{"write", 1}, {"random", 3}});
}

TEST_CASE_FIXTURE(OptionsFixture, "stray words are refused")
{
    CHECK(complaint({"60s"}) == "takes options only, no other words (noisegen --help shows all)");
}

TEST_CASE_FIXTURE(OptionsFixture, "a config file supplies what the command line does not")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "run.ini"} << "duration = 5s\nseed = 7\n";
    CHECK(parse({"--config", scratch / "run.ini", "--seed", "9"}));
    CHECK(duration == 5s);
    CHECK(seed == 9);
}

TEST_CASE_FIXTURE(OptionsFixture, "a missing config file and unknown words in it are usage errors")
{
    const testing::Scratch scratch;
    CHECK(complaint({"--config", "nowhere.ini"}) == "cannot read the config file nowhere.ini");
    CHECK(complaint({"--config", "/"}) == "cannot read the config file /");
    std::ofstream{scratch / "run.ini"} << "sed = 7\n";
    CHECK(complaint({"--config", scratch / "run.ini"}) ==
          "no option '--sed'; did you mean --seed? (noisegen --help shows all)");
}

TEST_CASE_FIXTURE(OptionsFixture, "placeholders of the library that parses are words like others")
{
    CHECK(complaint({"--%canonical_option%="}).starts_with("no option '--%canonical_option%'"));
    CHECK(complaint({"--%prefix%%option%=3"}).starts_with("no option '--%prefix%%option%'"));
    const testing::Scratch scratch;
    const std::string file = scratch / "run.ini";
    for (const char* line : {"a %invalid_line% b", "[a %invalid_line%", "= %value%", "%option% = 3", "duration"}) {
        std::ofstream{file} << "# with a = in it\n\n" << line << "\n";
        CHECK(complaint({"--config", file}) == file + " line 3: '" + line + "' is not NAME = VALUE");
    }
    std::ofstream{file} << "[section]\nduration = 5s\n";
    CHECK(complaint({"--config", file}).starts_with("no option '--section.duration'"));
}

TEST_CASE_FIXTURE(OptionsFixture, "help names every option with its default")
{
    const std::string help = options.help();
    CHECK(help.find("--duration") != std::string::npos);
    CHECK(help.find("(default 60s)") != std::string::npos);
}

TEST_CASE_FIXTURE(OptionsFixture, "the end of help is wrapped as the rest is")
{
    options.epilogue("Noise is " + std::string(85, 'n') + " and ends " + std::string(80, 'e') + ".");
    CHECK(
        options.help().ends_with("\nNoise is " + std::string(85, 'n') + " and\nends " + std::string(80, 'e') + ".\n"));
}

TEST_CASE_FIXTURE(OptionsFixture,
                  "an option without a variable is read by its name, and checks run in order when asked for")
{
    std::string order;
    options.add_word("out", "here", "where to", "DIR");
    options.add_words("victim", "processes", "PID");
    options.add_choice("trace", "on", {"on", "off"}, "record");
    options.add_switch("share", "cores");
    options.then([&] { order += "a"; });
    options.then([&] { order += options.text("out"); });
    CHECK(parse({"--victim", "1", "--victim", "2", "--trace", "off", "--share"}));
    CHECK(order.empty());
    options.check();
    CHECK(order == "ahere");
    CHECK(options.texts("victim") == std::vector<std::string>{"1", "2"});
    CHECK(options.text("trace") == "off");
    CHECK(options.is_on("share"));
    CHECK(complaint({"--trace", "maybe"}) == "--trace: 'maybe' is not one of on|off");
}
