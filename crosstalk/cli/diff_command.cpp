// SPDX-License-Identifier: Apache-2.0
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/stop.hpp"
#include "base/system/temporary_directory.hpp"
#include "base/words.hpp"
#include "crosstalk/cli/commands.hpp"
#include "crosstalk/programs/programs.hpp"

#include <filesystem>
#include <iostream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

// The report on these runs: the run's own if there is a single run, else one that is made for this comparison.
std::string report_on(const std::vector<std::string>& runs, const fs::path& pooled)
{
    if (runs.size() == 1) return runs.front();
    Words words{program("interference"), "analyse"};
    words.insert(words.end(), runs.begin(), runs.end());
    words.insert(words.end(), {"--out", pooled.string()});
    const Answer answer = answer_of(words, Errors::in_the_text);
    if (fs::exists(pooled / base::file::verdict)) return pooled.string();
    const std::string why = last_message(answer.text);
    if (answer.code == base::exit_usage) base::fail_usage(why);
    base::fail(why.empty() ? "interference analyse failed" : why);
}

}  // namespace

DiffCommand::DiffCommand()
    : Command{"crosstalk diff", "compares two runs or sets of runs: what each noise costs more or less after a change"}
{
    options.add_positional("DIR", sides_, "the run, or set of runs, before the change, and that after it", 0, 2);
    options.synopsis("[options] BEFORE AFTER | --before RUN... --after RUN...");
    options.add("before", before_, "runs before the change, which are pooled: instead of BEFORE AFTER", "RUN...");
    options.add("after", after_, "runs after the change, which are pooled", "RUN...");
    options.add("out", out_, "directory for tables; must not exist", "DIR");
    options.add_choice("format", format_, {"text", "md", "json"},
                       "what is printed: lines for a terminal, Markdown for CI and wikis, or rows as JSON");
    options.add_choice("fail-on", fail_on_, {"worse"}, "worse: exit code 1 if a noise costs more after the change");
    options.example("crosstalk diff before after --fail-on worse");
    options.example("crosstalk diff --before b1 b2 b3 --after a1 a2 a3 --out changed");
    options.epilogue(
        "Both sides need trustworthy reports of the same schedule. Exit codes: 0 fine, 1 failed, or --fail-on is "
        "met, 2 wrong usage, which includes reports that cannot be compared or trusted.");
    options.see_also("interference-diff(1), crosstalk-run(1)");
}

int DiffCommand::run()
{
    if (sides_.empty() ? before_.empty() || after_.empty() : !before_.empty() || !after_.empty() || sides_.size() != 2)
        base::fail_usage(
            "give both sides: crosstalk diff BEFORE AFTER, or --before RUN.. --after RUN.. "
            "(crosstalk diff --help)");
    base::stop_on_signals();
    if (!sides_.empty()) before_ = {sides_.front()};
    if (!sides_.empty()) after_ = {sides_.back()};
    const base::TemporaryDirectory scratch{"crosstalk-diff"};
    Words words{program("interference"),
                "diff",
                report_on(before_, scratch.path() / "before"),
                report_on(after_, scratch.path() / "after"),
                "--format",
                format_};
    if (!out_.empty()) words.insert(words.end(), {"--out", out_});
    if (!fail_on_.empty()) words.insert(words.end(), {"--fail-on", fail_on_});
    return wait_for(*start({.words = words, .folder = {}, .output = {}, .errors = {}}, {}));
}

}  // namespace crosstalk
