// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/noise_command.hpp"

#include "base/error.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/programs.hpp"

namespace crosstalk {

std::string schedule_of(const Request& request, bool cooperates, const base::CpuSet& noise)
{
    if (request.schedule != "auto") return request.schedule;
    const std::string slot = request.slot != "auto" ? request.slot : cooperates ? "auto" : request.blind_slot;
    // A factorial is used if each stressor can have a core: otherwise the load of a stressor would depend on the
    // others.
    const std::size_t noises = base::split(request.noises, ',').size();
    const bool factorial = noises > 1 && base::physical_cores(noise).size() >= noises;
    const bool delay = cooperates && request.control_delay != "0";
    return base::join(factorial ? "factorial" : "rotation", "(", request.noises, ", placebo, ",
                      delay ? "control.delay, control.sham; slot=" : "control.pause; slot=", slot, ")");
}

std::vector<std::string> noise_words(const Request& request, const std::string& schedule, const Split& cores)
{
    std::vector<std::string> words{
        program("noisegen"),           "--schedule", schedule, "--seed", std::to_string(request.seed), "--cpus",
        base::format_cpus(cores.noise)};
    if (cores.shared)
        words.emplace_back("--share");
    else
        words.insert(words.end(), {"--avoid", base::format_cpus(cores.job)});
    return words;
}

std::vector<std::string> words_to_start(const Request& request, const std::string& schedule, const Split& cores,
                                        bool waits_for_job)
{
    const base::Nanoseconds beyond =
        waits_for_job ? base::Nanoseconds{std::chrono::hours{24}} : std::chrono::minutes{10};
    std::vector<std::string> words = noise_words(request, schedule, cores);
    words.insert(words.end(), {"--duration", base::format(request.duration + beyond), "--planned",
                               base::format(request.duration), "--out", request.out.string()});
    if (!request.openmetrics.empty())
        words.insert(words.end(), {"--openmetrics", (request.openmetrics / "noise.prom").string()});
    return words;
}

std::string slots_of(const Request& request, const std::string& schedule, const Split& cores)
{
    std::vector<std::string> words = noise_words(request, schedule, cores);
    words.insert(words.end(), {"--duration", base::format(request.duration), "--designed", "--dry-run"});
    const Answer answer = answer_of(words, Errors::in_the_text);
    if (answer.code == base::exit_fine) return answer.text;
    const std::string why = base::join("noise of this schedule: ", last_message(answer.text));
    if (answer.code == base::exit_usage) base::fail_usage(why);
    if (answer.code == base::exit_unavailable) base::unavailable(why);
    base::fail(why);
}

}  // namespace crosstalk
