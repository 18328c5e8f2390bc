// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/job.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/victims.hpp"

#include <nlohmann/json.hpp>

#include <csignal>

namespace crosstalk {

namespace fs = std::filesystem;

Job::Job(const Request& request, const base::CpuSet& cpus)
    : job_{.request = request,
           .cpus = cpus,
           .control_delay = request.control_delay,
           .output = nullptr,
           .times = {},
           .began = {}},
      source_{source_of(job_)}
{
    if (!found_on_path(request.command.front()) && !is_ours(request.command.front()))
        base::fail_usage("no program '", request.command.front(), "' on PATH");
    if (request.until_decided && !cooperates())
        base::fail_usage(
            "--until decided needs a job that reports its steps as they end: ddl-train, crosstalk-python or a "
            "program that calls crosstalk_mark.h");
}

std::string Job::command_line() const
{
    return base::shell_words(source_->words());
}

// Writes the record of a job that does not write one.
void Job::write_record() const
{
    const fs::path part = source_->part();
    fs::create_directories(part);
    nlohmann::ordered_json record = base::run_record("crosstalk");
    // The CPUs given to the job as a whole, not those of each rank.
    record["cpus_allowed"] = base::format_cpus(job_.cpus);
    record["result"]["each_rank"] = {
        {{"rank", 0}, {"host", record.at("host")}, {"cpus", base::format_cpus(job_.cpus)}}};
    record["training"]["model"] = base::shortened(base::shell_words(base::without_secrets(job_.request.command)), 100);
    base::write_whole(part / base::file::run_record, base::json_text(record) + "\n");
}

void Job::start()
{
    const Request& request = job_.request;
    source_->prepare();
    if (!cooperates()) write_record();
    base::Launch launch{.words = source_->words(),
                        .folder = {},
                        .output = log(),
                        .errors = log(),
                        .input = request.input.empty() ? "/dev/null" : request.input};
    if (launch.input == "-") launch.input.clear();
    if (source_->reads_output()) {
        job_.output =
            std::make_unique<Output>(log(), request.step_line.empty() ? LineKinds{} : LineKinds{request.step_line});
        launch.output = launch.errors = job_.output->terminal();
    }
    job_.times = {.begin_ns = base::now_ns(), .end_ns = 0, .realtime_ahead_ns = base::realtime_offset_ns()};
    job_.began = fs::file_time_type::clock::now();
    child_ = crosstalk::start(launch, job_.cpus);
}

void Job::write_ranks() const
{
    const fs::path file = source_->part() / base::file::run_record;
    const std::vector<pid_t> ranks = ranks_of(pid());
    if (cooperates() || ranks.empty() || !fs::exists(file)) return;
    nlohmann::ordered_json record = base::read_json(file);
    nlohmann::ordered_json& each = record["result"]["each_rank"];
    const nlohmann::ordered_json first = each.at(0);
    each = nlohmann::ordered_json::array();
    for (const pid_t rank : ranks) {
        each.push_back(first);
        each.back()["rank"] = each.size() - 1;
        each.back()["pid"] = rank;
    }
    base::write_whole(file, base::json_text(record) + "\n");
}

bool Job::running()
{
    if (child_->pid() == 0) return false;
    const std::optional<int> code = child_->wait(base::Nanoseconds{0});
    if (code) exit_code_ = *code;
    return !code;
}

void Job::stop()
{
    child_->signal(SIGTERM);
}

void Job::find_source()
{
    if (std::unique_ptr<StepSource> found = source_->successor()) source_ = std::move(found);
}

Output::Seen Job::output() const
{
    return job_.output ? job_.output->seen() : Output::Seen{};
}

Words Job::finish()
{
    return source_->finish(job_.output ? job_.output->finish() : LineKinds{});
}

}  // namespace crosstalk
