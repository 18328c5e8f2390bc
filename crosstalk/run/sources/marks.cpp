// SPDX-License-Identifier: Apache-2.0
// A job that reports its steps through libcrosstalk-mark.so and cooperates in control.delay: crosstalk-python, or a
// program that uses crosstalk_mark.h.
#include "base/contract/control_file.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/contract/variables.hpp"
#include "base/error.hpp"
#include "base/system/environment.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/sources/program_text.hpp"
#include "crosstalk/run/sources/step_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

class Marks : public StepSource {
 public:
    using StepSource::StepSource;

    Words words() const override
    {
        Words words;
        for (const std::string& word : job_.request.command) {
            const bool python = word == "crosstalk-python";
            const bool module = word == "crosstalk" && !words.empty() && words.back() == "-m";
            words.push_back(python ? program(word) : word);
            if ((python || module) && !names("--openmetrics"))
                std::ranges::copy(metrics_words(), std::back_inserter(words));
        }
        return words;
    }

    bool cooperates() const override { return true; }

    // Sets environment variables for libcrosstalk-mark.so and Python; a script may start such programs.
    void prepare() override
    {
        const fs::path prefix = path_of_program("").parent_path().parent_path();
        const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); };
        set(base::variable::run, job_.request.out);
        set(base::variable::command, base::shell_words(base::without_secrets(job_.request.command)));
        set(base::variable::control_delay, job_.control_delay);
        const std::string others = base::environment("PYTHONPATH").value_or("");
        for (const fs::path& module : {prefix / CROSSTALK_PYTHON_FOLDER, fs::path{CROSSTALK_PYTHON_SOURCE}})
            if (fs::exists(module / "crosstalk")) {
                set("PYTHONPATH", module.string() + (others.empty() ? "" : ":" + others));
                break;
            }
        if (base::environment(base::variable::mark_library)) return;
        for (const char* folder : {CROSSTALK_LIBRARY_FOLDER, "lib"})
            if (const fs::path library = prefix / folder / "libcrosstalk-mark.so"; fs::exists(library))
                return set(base::variable::mark_library, library);
    }

    std::optional<std::size_t> steps_so_far() const override { return rows_of_own_table(); }

    // The known delay is a share of quiet steps, which must come first.
    std::size_t first_steps() const override { return base::control_first_quiet_step + base::control_quiet_steps + 2; }

    std::string advice() const override
    {
        return "a step ends with step() of a torch.optim optimizer, or begins with crosstalk.step(); " +
               job_.option_for_lines() + " takes lines of output instead";
    }

    Words finish(const LineKinds&) override
    {
        if (has_own_trace()) return {"--step-is", "a step as the job marks it"};
        const std::size_t steps = fs::exists(job_.own_table()) ? rows_of_own_table() : 0;
        if (steps < least_steps) base::fail("the job recorded no steps: see ", job_.log().string());
        base::warn("the job ended before its archive was complete; its ", steps, " steps are those of ",
                   job_.own_table().string());
        return {"--steps", job_.own_table().string(), "--step-is", "a step as the job marks it"};
    }
};

// Does the program report its own steps? A Python program imports crosstalk; a compiled one is linked with the library.
bool has_marks(const std::string& word)
{
    if (fs::path{word}.filename() == "crosstalk-python") return true;
    const std::string text = text_of(word);
    if (is_program(text)) return text.find("libcrosstalk-mark.so") != std::string::npos;
    return is_script(word) && imports_crosstalk(text);
}

bool tells_its_steps(const Request& request)
{
    if (!request.step_region.empty() || !request.step_from.empty()) return false;
    const Words& command = request.command;
    return runs_module(command, "crosstalk") || std::any_of(command.begin(), command.end(), has_marks);
}

}  // namespace

extern const StepSourceCard marks_source{.takes = tells_its_steps, .make = make_source<Marks>};

}  // namespace crosstalk
