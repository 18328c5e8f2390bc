// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/prune/steps_table.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/temporary_directory.hpp"
#include "crosstalk/programs/programs.hpp"

#include <nlohmann/json.hpp>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

// "--step-from MPI_Allreduce --step-every 5"; empty if the run's record does not say which events are steps.
Words choice_of_steps(const fs::path& run)
try {
    const fs::path request = run / base::file::request;
    if (!fs::is_regular_file(request)) return {};
    const auto json = base::read_json(request);
    Words words;
    if (!json.contains("reading")) return {};
    for (const char* name : {"step_region", "step_from", "step_every"})
        if (const auto found = json.at("reading").find(name); found != json.at("reading").end()) {
            std::string option = std::string{"--"} + name;
            option.replace(option.find('_'), 1, "-");
            words.insert(words.end(), {option, found->get<std::string>()});
        }
    return words;
} catch (const std::exception&) {
    return {};
}

}  // namespace

bool can_make_table(const fs::path& run)
{
    return !choice_of_steps(run).empty();
}

void make_table(const fs::path& run)
{
    const fs::path train = run / base::part::train;
    const base::TemporaryDirectory scratch{"crosstalk-prune"};
    const fs::path out = scratch.path() / "steps";
    Words words{program("trace-steps"), (train / base::file::anchor_in_part).string(), "-o", out.string()};
    const Words choice = choice_of_steps(run);
    words.insert(words.end(), choice.begin(), choice.end());
    const Answer answer = answer_of(words, Errors::in_the_text);
    if (answer.code != base::exit_fine)
        base::fail(run.string(), " is left as it is: no table of its steps can be made: ",
                   lines_of(answer.text).empty() ? std::string{} : lines_of(answer.text).back());
    base::write_whole(train / base::file::steps, base::read_whole(out / base::file::steps));
}

}  // namespace crosstalk
