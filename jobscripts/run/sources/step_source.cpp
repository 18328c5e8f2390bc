#include "jobscripts/run/sources/step_source.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "jobscripts/programs/programs.hpp"
#include "jobscripts/run/sources/scorep.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <unistd.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

bool is_ddl_train(const std::string& word)
{
    return fs::path{word}.filename() == "ddl-train";
}

bool is_script(const std::string& word)
{
    return fs::path{word}.extension() == ".py";
}

// What is in a script or a program of the command; empty where it is none.
std::string text_of(const std::string& word)
{
    constexpr std::uint64_t most_bytes = 64 << 20U;
    const std::optional<fs::path> file = is_script(word) ? fs::path{word} : found_on_path(word);
    std::error_code unknown;
    if (!file || !fs::is_regular_file(*file, unknown) || fs::file_size(*file, unknown) > most_bytes) return {};
    if (::access(file->c_str(), R_OK) != 0) return {};
    return base::read_whole(*file, most_bytes);
}

bool is_program(const std::string& text)
{
    return text.starts_with("\177ELF");
}

// A line "import crosstalk", or "from crosstalk import ..", at any depth. By hand: scripts may have lines of any
// length.
bool imports_crosstalk(std::string_view text)
{
    constexpr std::string_view blanks = " \t";
    constexpr std::string_view in_names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const auto takes = [&](std::string_view& line, std::string_view word) {
        if (!line.starts_with(word)) return false;
        line.remove_prefix(word.size());
        return line.empty() || in_names.find(line.front()) == std::string_view::npos;
    };
    const auto skip_blanks = [&](std::string_view& line) {
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    };
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        skip_blanks(line);
        if (!takes(line, "import") && !takes(line, "from")) continue;
        skip_blanks(line);
        if (takes(line, "crosstalk")) return true;
    }
    return false;
}

// Does it tell its steps itself? A Python program says so, and a compiled one is linked with the library.
bool has_marks(const std::string& word)
{
    if (fs::path{word}.filename() == "crosstalk-python") return true;
    const std::string text = text_of(word);
    if (is_program(text)) return text.find("libcrosstalk-mark.so") != std::string::npos;
    return is_script(word) && imports_crosstalk(text);
}

// An instrumented program holds names of Score-P's functions, or those of its libraries.
bool is_instrumented(const std::string& word)
{
    const std::string text = text_of(word);
    return is_program(text) &&
           (text.find("SCOREP_") != std::string::npos || text.find("libscorep_") != std::string::npos);
}

// Words behind an interpreter or a script are its arguments and not looked for on PATH; programs of ours hold names of
// Score-P's without being traced.
bool is_traced_program(const std::vector<std::string>& command)
{
    bool may_be_on_path = true;
    for (const std::string& word : command) {
        const bool by_path = word.find('/') != std::string::npos;
        const std::optional<fs::path> file = found_on_path(word);
        std::error_code unknown;
        const bool ours =
            file && fs::equivalent(fs::absolute(*file).parent_path(), path_of_program("").parent_path(), unknown);
        if ((by_path || may_be_on_path) && !ours && is_instrumented(word)) return true;
        if (is_script(word) || fs::path{word}.filename().string().starts_with("python")) may_be_on_path = false;
    }
    return false;
}

// python3 -m MODULE
bool runs_module(const std::vector<std::string>& command, const std::string& name)
{
    for (auto word = command.begin(); word != command.end(); ++word)
        if (*word == "-m" && word + 1 != command.end() && *(word + 1) == name) return true;
    return false;
}

bool is_traced_by_scorep(const std::vector<std::string>& command)
{
    if (const std::optional<bool> asked = scorep_tracing_is_asked_for()) return *asked;
    return runs_module(command, "scorep") || is_traced_program(command);
}

bool tells_its_steps(const std::vector<std::string>& command)
{
    return runs_module(command, "crosstalk") || std::any_of(command.begin(), command.end(), has_marks);
}

}  // namespace

bool is_ours(const std::string& word)
{
    return is_ddl_train(word) || word == "crosstalk-python";
}

StepSource source_of(const Request& request)
{
    const bool training = std::any_of(request.command.begin(), request.command.end(), is_ddl_train);
    const bool region_chosen = !request.step_region.empty() || !request.step_from.empty();
    const int chosen = (request.step_region.empty() ? 0 : 1) + (request.step_from.empty() ? 0 : 1) +
                       (request.step_line.empty() ? 0 : 1) + (request.steps.empty() ? 0 : 1);
    if (request.step_every < 1) base::fail_usage("--step-every: a step has one call or line at least");
    if (request.step_every > 1 && (!request.step_region.empty() || !request.steps.empty()))
        base::fail_usage("--step-every counts calls or lines: leave out --step-region and --steps");
    if (chosen > 1) base::fail_usage("--step-region, --step-from, --step-line and --steps: one of them");
    if (training && chosen > 0)
        base::fail_usage("ddl-train records its own steps: leave out --step-region, --step-from, --step-line, --steps");
    if (training) return StepSource::ddl_train;
    if (!request.steps.empty()) return StepSource::table;
    if (!request.step_line.empty()) return StepSource::lines;
    if (is_traced_by_scorep(request.command)) return StepSource::scorep;
    if (!region_chosen && tells_its_steps(request.command)) return StepSource::marks;
    return StepSource::calls;
}

}  // namespace crosstalk
