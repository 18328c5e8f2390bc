// SPDX-License-Identifier: Apache-2.0
// Man page and completion of a small program.
#include "base/cli/manual.hpp"

#include "base/cli/options.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace {

struct Cake {
    std::string shape = "round";
    std::string out;
    std::string model;
    std::string title;
    bool quick = false;
    base::Options options{"bake-cake", "cakes of any shape"};

    Cake()
    {
        options.group("What");
        options.add_choice("shape", shape, {"round", "square"}, "of the cake");
        options.add("model", model, "what it imitates", "NAME");
        options.plug_ins("model", {.options = {{"tower", {"floors", "height"}}, {"tree", {}}}, .forms = {"both("}});
        options.group("Where");
        options.add("out", out, "where it goes", "DIR");
        options.add("title", title, "on top");
        options.add_switch("quick", quick, "no icing");
        options.section({.title = "Exit status", .entries = {{"0", "eaten"}, {"1", "'.burnt\\"}}});
        options.section({.title = "Files", .text = "None.", .in_help = false});
    }

    // The completions that bash offers after these words, of which the last is incomplete.
    std::string offered(const std::string& words) const
    {
        const testing::Scratch scratch;
        std::ofstream{scratch / "completion"} << base::bash_completion(options.manual());
        const std::string script = "source '" + (scratch / "completion").string() + "'; COMP_WORDS=(" + words +
                                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _bake_cake; echo \"${COMPREPLY[*]}\"";
        const testing::Outcome outcome = testing::run({"bash", "-c", script});
        CHECK(outcome.err == "");
        return outcome.out;
    }
};

}  // namespace

TEST_CASE_FIXTURE(Cake, "help groups the options and wraps the sections")
{
    const std::string help = options.help();
    CHECK(help.find("\nWhat:\n") < help.find("--shape"));
    CHECK(help.find("--shape") < help.find("\nWhere:\n"));
    CHECK(help.find("--quick") < help.find("\nOther options:\n"));
    CHECK(help.find("of the cake: round|square (default round)") != std::string::npos);
    CHECK(help.find("\nExit status:\n  0  eaten\n") != std::string::npos);
    CHECK(help.find("Files") == std::string::npos);
}

TEST_CASE_FIXTURE(Cake, "the man page has every option and nothing in it is taken for a request")
{
    const std::string page = base::man_page(options.manual());
    for (const char* word :
         {".TH BAKE-CAKE 1", ".SH \"NAME\"\nbake\\-cake \\- cakes of any shape\n", "\\fB\\-\\-shape\\fR",
          ".SS \"Where\"", "\\fB\\-h\\fR, \\fB\\-\\-help\\fR", ".SH \"FILES\"\nNone.\n"})
        CHECK(page.find(word) != std::string::npos);
    CHECK(page.find("\n\\&\\(aq.burnt\\e\n") != std::string::npos);
}

TEST_CASE_FIXTURE(Cake, "completion knows options, choices and where a value has ended")
{
    CHECK(offered("bake-cake --sh") == "--shape\n");
    CHECK(offered("bake-cake --shape ''") == "round square\n");
    CHECK(offered("bake-cake --shape = sq") == "square\n");
    CHECK(offered("bake-cake --title ''") == "\n");
    CHECK(offered("bake-cake --shape round --o") == "--out\n");
    CHECK(offered("bake-cake --quick ''").find("--title") != std::string::npos);
    CHECK(offered("bake-cake --shape round ''").find("--title") != std::string::npos);
}

TEST_CASE_FIXTURE(Cake, "completion knows directories")
{
    const testing::Scratch scratch;
    std::filesystem::create_directory(scratch / "kitchen");
    std::ofstream{scratch / "kitten"} << "";
    CHECK(offered("bake-cake --out '" + (scratch / "ki").string() + "'") == (scratch / "kitchen").string() + "\n");
}

TEST_CASE_FIXTURE(Cake, "completion knows plug-ins and inside brackets their options")
{
    CHECK(offered("bake-cake --model ''") == "tower tree both(\n");
    CHECK(offered("bake-cake --model t") == "tower tree\n");
    CHECK(offered("bake-cake --model 'tower[h'") == "tower[height=\n");
    CHECK(offered("bake-cake --model \"\\\"both(tree, tower[height=2,\"") ==
          "both(tree, tower[height=2,floors= both(tree, tower[height=2,height=\n");
    CHECK(offered("bake-cake --model \"\\\"tower[floors=2]; tr\"") == "tower[floors=2]; tree\n");
    CHECK(offered("bake-cake --model 'tree['") == "\n");
    // Without quotes bash has already split the word at the =.
    CHECK(offered("bake-cake --model 'tower[height' = 2,fl") == "2,floors=\n");
    CHECK(offered("bake-cake --model label = tow") == "tower\n");
}

TEST_CASE_FIXTURE(Cake, "completion, help and man page know commands and plug-ins among words")
{
    base::Options eat{"bake-cake eat", "what is left"};
    std::vector<std::string> cakes;
    eat.add_positional("CAKE", cakes, "which", 0);
    eat.plug_ins("CAKE", {.options = {{"tower", {"floors"}}, {"tree", {}}}});
    options.command(eat.manual());
    CHECK(offered("bake-cake e") == "eat\n");
    CHECK(offered("bake-cake eat t") == "tower tree\n");
    CHECK(offered("bake-cake eat tower tr") == "tree\n");
    CHECK(offered("bake-cake eat tree 'tower[f'") == "tower[floors=\n");
    CHECK(offered("bake-cake eat --v") == "--version\n");
    CHECK(offered("bake-cake --title x e") == "\n");
    CHECK(options.help().find("\nCommands (each has its own --help):\n  eat  what is left\n") != std::string::npos);
    CHECK(eat.help().find("\n  CAKE: which\n") != std::string::npos);
    const std::string page = base::man_page(options.manual());
    CHECK(page.find(".SH \"COMMANDS\"\n.TP\n\\fBeat\\fR\nwhat is left\n") != std::string::npos);
}

TEST_CASE_FIXTURE(Cake, "completion knows the commands of a command")
{
    base::Options freeze{"bake-cake keep freeze", "for months"};
    std::string degrees;
    freeze.add("degrees", degrees, "how cold", "NUMBER");
    base::Options keep{"bake-cake keep", "for later"};
    keep.command(freeze.manual());
    options.command(keep.manual());
    CHECK(offered("bake-cake k") == "keep\n");
    CHECK(offered("bake-cake keep f") == "freeze\n");
    CHECK(offered("bake-cake keep freeze --d") == "--degrees\n");
}

TEST_CASE_FIXTURE(Cake, "a shell without completion is refused")
{
    std::string program = "bake-cake";
    std::string option = "--completion";
    std::string shell = "fish";
    std::vector<char*> words{program.data(), option.data(), shell.data()};
    CHECK_THROWS_AS(options.parse(static_cast<int>(words.size()), words.data()), base::UsageError);
}
