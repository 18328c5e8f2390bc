// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/noise_process.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/waiting.hpp"
#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/first_steps.hpp"
#include "crosstalk/run/request/ended.hpp"

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
    constexpr std::int64_t patience_ns = 60'000'000'000;  // time to write its archive
    if (runs()) {
        launcher_.end_noise(*process_);
        if (!base::wait_until([this] { return !runs(); }, patience_ns, look_again_ns)) {
            base::warn("noise does not end: killing it");
            process_->signal(launcher_.is_parent() ? SIGKILL : SIGTERM);  // srun ends its step, too
            code_ = process_->wait();
        }
    }
    const bool by_launcher = !launcher_.is_parent() || !request_.noise_launch.empty();
    if (by_launcher && !ended_by_itself) return;
    if (code_ != base::exit_fine && code_ != base::exit_promise_not_kept)
        throw Ended{base::exit_promise_not_kept,
                    base::join("noise did not cover the job: it failed (", code_, "), see ", log().string())};
}

std::filesystem::path NoiseProcess::log() const
{
    return request_.out / base::part::log / "noise.log";
}

}  // namespace crosstalk
