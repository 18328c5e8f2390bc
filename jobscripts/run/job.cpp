#include "jobscripts/run/job.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/contract/variables.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"
#include "base/system/environment.hpp"
#include "base/words.hpp"
#include "jobscripts/programs/programs.hpp"
#include "jobscripts/run/ended.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr const char* part_of_calls = "calls";  // becomes train/, unless the job turns out to tell its steps
constexpr base::Nanoseconds noise_may_prepare = std::chrono::hours{1};
constexpr int quiet_steps = 24;
constexpr std::int64_t first_quiet_step = 8;  // those before warm up

// The median over steps that every rank took after the first ones; 0 if there are none.
double median_step_ns(const fs::path& steps)
{
    const base::CsvTable table{steps};
    std::vector<std::int64_t> lengths;
    for (std::size_t row = 0; row < table.rows(); ++row)
        if (table.get<std::int64_t>(row, "step") >= first_quiet_step)
            lengths.push_back(table.get<std::int64_t>(row, "end_ns") - table.get<std::int64_t>(row, "begin_ns"));
    if (lengths.empty()) return 0.0;
    std::sort(lengths.begin(), lengths.end());
    return static_cast<double>(lengths[lengths.size() / 2]);
}

std::vector<std::string> last_words_in(const fs::path& log)
{
    constexpr std::size_t most = 5;
    std::vector<std::string> own;
    std::vector<std::string> all;
    std::ifstream in{log};
    for (std::string line; std::getline(in, line);) {
        if (line.find_first_not_of(" \t\r-") == std::string::npos) continue;  // mpirun's frames
        if (line.starts_with("ddl-train: ") && std::find(own.begin(), own.end(), line) == own.end())
            own.push_back(line);
        all.push_back(line);
    }
    std::vector<std::string>& last = own.empty() ? all : own;
    if (last.size() > most) last.erase(last.begin(), last.end() - most);
    return last;
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more)
{
    words.insert(words.end(), more.begin(), more.end());
}

}  // namespace

Job::Job(const Request& request, const base::CpuSet& cpus)
    : request_{request},
      cpus_{cpus},
      source_{source_of(request)},
      part_{source_ == StepSource::calls ? request.out / base::part::log / part_of_calls
                                         : request.out / base::part::train},
      control_delay_{request.control_delay}
{
    if (!found_on_path(request.command.front()) && !is_ours(request.command.front()))
        base::fail_usage("no program '", request.command.front(), "' on PATH");
    if (source_ == StepSource::ddl_train && names("--out"))
        base::fail_usage("leave ddl-train's --out to crosstalk run, whose --out it is");
    if (request.until_decided && !cooperates())
        base::fail_usage(
            "--until decided needs a job that tells its steps as they end: ddl-train, crosstalk-python or a "
            "program with crosstalk_mark.h's calls");
    if (source_ == StepSource::lines) LineKinds{request.step_line};
    if (source_ == StepSource::table && fs::exists(request.steps))
        base::fail_usage("--steps ", request.steps, " is there already, before the job that is to write it");
}

bool Job::names(const std::string& option) const
{
    return std::any_of(request_.command.begin(), request_.command.end(),
                       [&](const std::string& word) { return word == option || word.starts_with(option + "="); });
}

bool Job::computes_on_gpu() const
{
    const std::vector<std::string>& words = request_.command;
    const auto device = std::find(words.begin(), words.end(), "--device");
    if (device != words.end() && std::next(device) != words.end() && std::next(device)->starts_with("cuda"))
        return true;
    return std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return word.find("device=cuda") != std::string::npos;  // of --device, or of emulated
    });
}

std::vector<std::string> Job::training_words(const fs::path& out) const
{
    std::vector<std::string> words = request_.command;
    for (std::string& word : words)
        if (word == "ddl-train") word = program(word);
    if (!cpus_.empty() && !names("--cpus")) words.insert(words.end(), {"--cpus", base::format_cpus(cpus_)});
    words.insert(words.end(), {"--out", out.string()});
    return words;
}

std::vector<std::string> Job::metrics_words() const
{
    if (request_.openmetrics.empty()) return {};
    return {"--openmetrics", (request_.openmetrics / "training.prom").string()};
}

std::vector<std::string> Job::words() const
{
    switch (source_) {
        case StepSource::ddl_train: {
            std::vector<std::string> words = training_words(request_.out);
            if (!names("--duration") && !names("--steps"))  // it is asked to end before
                words.insert(
                    words.end(),
                    {"--duration",
                     base::format(request_.duration + (request_.ends_job ? noise_may_prepare : base::Nanoseconds{}))});
            if (!names("--control-delay")) words.insert(words.end(), {"--control-delay", control_delay_});
            if (!names("--openmetrics")) append(words, metrics_words());
            // A delay of the host may hide behind what a GPU has queued: how much may, its trace says.
            if (computes_on_gpu() && !names("--trace-gpu")) words.emplace_back("--trace-gpu");
            return words;
        }
        case StepSource::calls: {
            std::vector<std::string> words{program("trace-record"), "--out", own_trace().string(), "--"};
            words.insert(words.end(), request_.command.begin(), request_.command.end());
            return words;
        }
        case StepSource::marks: {
            std::vector<std::string> words;
            for (const std::string& word : request_.command) {
                const bool python = word == "crosstalk-python";
                const bool module = word == "crosstalk" && !words.empty() && words.back() == "-m";
                words.push_back(python ? program(word) : word);
                if ((python || module) && !names("--openmetrics")) append(words, metrics_words());
            }
            return words;
        }
        case StepSource::scorep: {
            std::vector<std::string> words = scorep_words(own_trace());
            words.insert(words.end(), request_.command.begin(), request_.command.end());
            return words;
        }
        case StepSource::table:
        case StepSource::lines:
            break;
    }
    return request_.command;
}

// The environment that libcrosstalk-mark.so and Python look at; a script may start them.
void Job::prepare() const
{
    if (source_ != StepSource::marks && source_ != StepSource::calls) return;
    const fs::path prefix = path_of_program("").parent_path().parent_path();
    const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); };
    set(base::variable::run, request_.out);
    set(base::variable::command, base::shell_words(base::without_secrets(request_.command)));
    set(base::variable::control_delay, control_delay_);
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

std::string Job::command_line() const
{
    return base::shell_words(words());
}

fs::path Job::log() const
{
    return request_.out / base::part::log / "job.log";
}

fs::path Job::own_table() const
{
    return request_.out / base::part::train / base::file::steps;
}

fs::path Job::own_trace() const
{
    return part_ / base::file::trace;
}

bool Job::has_own_trace() const
{
    return fs::exists(own_trace() / base::file::anchor);
}

void Job::measure_quiet_step()
{
    if (source_ != StepSource::ddl_train || !control_delay_.ends_with('%') || names("--control-delay")) return;
    const auto share = base::parse<base::Percent>(control_delay_);
    const fs::path scratch = request_.out / base::part::log / "quiet_step";
    const fs::path log = request_.out / base::part::log / "quiet_step.log";
    base::remove_tree(scratch);  // of a run that was killed
    std::vector<std::string> words = training_words(scratch);
    words.insert(words.end(), {"--steps", std::to_string(quiet_steps)});
    const int code = wait_for(*crosstalk::start({.words = words, .folder = {}, .output = log, .errors = log}, cpus_));
    if (code != 0) {
        for (const std::string& line : last_words_in(log)) base::warn(line);
        throw Ended{code == base::exit_usage ? base::exit_usage : base::exit_failed,
                    "the short training that finds out the length of a quiet step failed: see " + log.string()};
    }
    const double step_ns = median_step_ns(scratch / base::part::train / base::file::steps);
    base::remove_tree(scratch);
    if (step_ns <= 0.0) base::fail("the short training took too few steps: see ", log.string());
    const auto in_whole_us = [](double ns) { return base::format(base::Nanoseconds{1000 * std::llround(ns / 1e3)}); };
    control_delay_ = in_whole_us(step_ns * share.fraction());
    base::warn("a quiet step takes ", in_whole_us(step_ns), "; the known delay is ", control_delay_);
}

void Job::start()
{
    prepare();
    if (!cooperates()) {
        fs::create_directories(part_);
        nlohmann::ordered_json record = base::run_record("crosstalk");
        // It is given these CPUs, whatever ranks it has.
        record["cpus_allowed"] = base::format_cpus(cpus_);
        record["result"]["each_rank"] = {
            {{"rank", 0}, {"host", record.at("host")}, {"cpus", base::format_cpus(cpus_)}}};
        record["training"]["model"] = base::shortened(base::shell_words(base::without_secrets(request_.command)), 100);
        base::write_whole(part_ / base::file::run_record, base::json_text(record) + "\n");
    }
    base::Launch launch{.words = words(),
                        .folder = {},
                        .output = log(),
                        .errors = log(),
                        .input = request_.input.empty() ? "/dev/null" : request_.input};
    if (launch.input == "-") launch.input.clear();
    if (source_ != StepSource::ddl_train && source_ != StepSource::scorep) {
        output_ =
            std::make_unique<Output>(log(), request_.step_line.empty() ? LineKinds{} : LineKinds{request_.step_line});
        launch.output = launch.errors = output_->terminal();
    }
    times_ = {.begin_ns = base::now_ns(), .end_ns = 0, .realtime_ahead_ns = base::realtime_offset_ns()};
    began_ = fs::file_time_type::clock::now();
    child_ = crosstalk::start(launch, cpus_);
}

bool Job::running()
{
    if (child_->pid() == 0) return false;
    const std::optional<int> code = child_->wait(base::Nanoseconds{0});
    if (code) exit_code_ = *code;
    return !code;
}

std::vector<std::string> Job::last_words() const
{
    return last_words_in(log());
}

void Job::stop()
{
    child_->signal(SIGTERM);
}

}  // namespace crosstalk
