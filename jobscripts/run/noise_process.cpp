#include "jobscripts/run/noise_process.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/waiting.hpp"
#include "jobscripts/programs/programs.hpp"
#include "jobscripts/run/ended.hpp"
#include "jobscripts/run/first_steps.hpp"

#include <csignal>
#include <optional>

namespace crosstalk {

void NoiseProcess::start(const std::vector<std::string>& words, const base::CpuSet& cpus)
{
    process_ = crosstalk::start({.words = words, .folder = {}, .output = log(), .errors = log()}, cpus);
}

bool NoiseProcess::runs()
{
    if (process_->pid() == 0) return false;
    if (const std::optional<int> code = process_->wait(base::Nanoseconds{0})) code_ = *code;
    return process_->pid() != 0;
}

void NoiseProcess::end(bool ended_by_itself)
{
    constexpr std::int64_t patience_ns = 60'000'000'000;  // while it writes its archive
    if (runs()) {
        process_->signal(SIGTERM);
        if (!base::wait_until([this] { return !runs(); }, patience_ns, look_again_ns)) {
            base::warn("noise does not end: it is killed");
            process_->signal(SIGKILL);
            code_ = process_->wait();
        }
    }
    if (!request_.noise_launch.empty() && !ended_by_itself) return;
    if (code_ != base::exit_fine && code_ != base::exit_promise_not_kept)
        throw Ended{base::exit_promise_not_kept,
                    base::join("noise did not cover the job: it failed (", code_, "), see ", log().string())};
}

std::filesystem::path NoiseProcess::log() const
{
    return request_.out / base::part::log / "noise.log";
}

}  // namespace crosstalk
