// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/evidence_process.hpp"

#include "base/contract/os_table.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_words.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/system/stop.hpp"
#include "base/system/waiting.hpp"
#include "crosstalk/run/first_steps.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> hosts_in(const fs::path& run)
{
    std::vector<fs::path> hosts;
    std::error_code none;
    for (const fs::directory_entry& host : fs::directory_iterator{run / base::os::folder, none})
        if (fs::exists(host.path() / base::os::table)) hosts.push_back(host.path());
    return hosts;
}

// Why trace-os cannot name the tasks on that host; empty if it can.
std::string lacks_names(const fs::path& host)
try {
    const auto sources = base::read_json(host / base::os::record).at("sources");
    const auto kernel = sources.find("bpf");
    return kernel != sources.end() && kernel->is_string() ? kernel->get<std::string>() : "";
} catch (const std::exception& error) {  // its os.json is incomplete, as after a kill
    return error.what();
}

}  // namespace

Words EvidenceProcess::words(const Placement& placement, const std::string& pid) const
{
    if (request_.evidence == base::evidence_word::off) return {};
    Words words = launcher_.evidence(placement);
    words.insert(words.end(), {path_of_program("trace-os").string(), "--out", request_.out.string()});
    words.insert(words.end(), {"--cpus", base::format_cpus(placement.cores.noise)});
    if (request_.evidence == base::evidence_word::cheap) words.insert(words.end(), {"--bpf", "off"});
    // On other nodes, trace-os finds the job's processes in the node's control file.
    if (launcher_.is_parent() && request_.noise_launch.empty()) words.insert(words.end(), {"--pid", pid});
    return words;
}

void EvidenceProcess::start(const Placement& placement, pid_t job)
{
    constexpr std::int64_t patience_ns = 30'000'000'000;
    const Words command = words(placement, std::to_string(job));
    if (command.empty()) return;
    try {
        program("trace-os");
        process_ =
            crosstalk::start({.words = command, .folder = {}, .output = log(), .errors = log()}, placement.cores.noise);
    } catch (const std::exception& error) {
        base::warn("no evidence of the operating system: ", error.what());
        return;
    }
    base::wait_until(
        [this] {
            base::end_if_stopped();
            return is_recording() || !runs();
        },
        patience_ns, look_again_ns);
}

bool EvidenceProcess::runs()
{
    if (process_ == nullptr || process_->pid() == 0) return false;
    process_->wait(base::Nanoseconds{0});
    return process_->pid() != 0;
}

bool EvidenceProcess::is_recording() const
{
    return hosts_in(request_.out).size() >= static_cast<std::size_t>(launcher_.nodes());
}

void EvidenceProcess::end()
{
    constexpr std::int64_t patience_ns = 30'000'000'000;  // time to write its archive
    if (process_ == nullptr) return;
    if (runs()) launcher_.end_evidence(*process_);
    if (!base::wait_until([this] { return !runs(); }, patience_ns, look_again_ns)) {
        base::warn("trace-os does not end: killing it");
        process_->signal(launcher_.is_parent() ? SIGKILL : SIGTERM);
        process_->wait();
    }
    process_.reset();
    const std::vector<fs::path> hosts = hosts_in(request_.out);
    if (hosts.empty()) return base::warn("no evidence of the operating system: see ", log().string());
    for (const fs::path& host : hosts) {
        const std::string lacks = lacks_names(host);
        if (lacks.empty() || request_.evidence == base::evidence_word::cheap) continue;
        return base::warn("evidence without the names of tasks: ", lacks);
    }
}

fs::path EvidenceProcess::log() const
{
    return request_.out / base::part::log / "trace-os.log";
}

}  // namespace crosstalk
