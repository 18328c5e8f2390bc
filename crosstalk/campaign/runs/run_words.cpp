// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/runs/run_words.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/programs.hpp"

#include <boost/program_options/parsers.hpp>

#include <set>

namespace crosstalk {

namespace {

void append(Words& words, const Words& more)
{
    words.insert(words.end(), more.begin(), more.end());
}

// The CPUs of the first `count` cores that noise may use.
base::CpuSet first_cores(const base::CpuSet& cpus, const std::string& count)
{
    std::vector<base::Core> cores = base::physical_cores(cpus);
    const auto wanted = base::parse<std::uint64_t>(count);
    if (wanted > cores.size())
        base::fail_usage("noise needs ", count, " cores, but there are only ", cores.size(), ": ",
                         base::format_cpus(cpus));
    cores.resize(wanted);
    return base::cpus_of(cores);
}

Split cores_of_node(const PlannedRun& run, const Spec& spec)
{
    const auto given = [](const std::string& list) { return list.empty() ? base::CpuSet{} : base::parse_cpus(list); };
    base::check_cpus(given(spec.cpus));
    base::check_cpus(given(spec.noise_cpus));
    Split cores = split_cores(base::physical_cores(base::allowed_cpus()), given(spec.cpus), given(spec.noise_cpus));
    if (run.cores != "all" && run.cores != "0") cores.noise = first_cores(cores.noise, run.cores);
    return cores;
}

}  // namespace

Placement placement_of(const PlannedRun& run, const Spec& spec, const Launcher& launcher)
{
    if (launcher.nodes() != spec.nodes)
        base::fail_usage("nodes = ", spec.nodes, " needs --back-end slurm: this is one machine");
    Placement placement{.ranks = run.ranks, .cores = {}, .noise_cores = run.cores};
    if (!launcher.chooses_cores()) {
        placement.cores = cores_of_node(run, spec);
        return placement;
    }
    if (run.ranks == 0) base::fail_usage("two jobs: steps of a command would be timed on the wrong node; give models");
    if (run.cores == "all") base::fail_usage("two jobs: cores must be a number, the size of the noise's job");
    return placement;
}

Words training_words(const PlannedRun& run, const Spec& spec)
{
    const auto split = [](const std::string& text) { return boost::program_options::split_unix(text); };
    if (run.ranks == 0) return split(run.model);
    Words words{"ddl-train",  "--model",    run.model,    "--data", run.data,
                "--strategy", run.strategy, "--progress", "yield"};
    append(words, split(choices_of(spec.options).common));
    append(words, split(run.options));
    return words;
}

Words noise_words(const PlannedRun& run, const Spec& spec, const Split& cores)
{
    // noisegen ends with the training; this longer duration matters only if the driver was killed.
    constexpr base::Nanoseconds beyond = std::chrono::minutes{10};
    Words words{program("noisegen"), "--schedule", run.schedule, "--seed", std::to_string(run.seed)};
    append(words, {"--duration", base::format(spec.duration + spec.start_within + beyond), "--planned",
                   base::format(spec.duration)});
    if (cores.noise.empty()) {
        append(words, {"--cpus", "all"});
    } else {
        append(words, {"--cpus", base::format_cpus(cores.noise)});
        append(words, cores.shared ? Words{"--share"} : Words{"--avoid", base::format_cpus(cores.job)});
    }
    return words;
}

std::string why_no_such_noise(const Plan& plan, const Spec& spec)
{
    std::set<std::string> taken{""};  // schedule of a quiet run
    for (const PlannedRun& run : plan) {
        if (!taken.insert(run.schedule).second) continue;
        Words words{program("noisegen"),         "--schedule", run.schedule, "--duration",
                    base::format(spec.duration), "--dry-run"};
        if (run.noise == base::campaign::designed) words.emplace_back("--designed");
        const Answer answer = answer_of(words, Errors::in_the_text);
        if (answer.code != base::exit_usage) continue;
        return base::shortened(base::printable(last_message(answer.text)), 160);
    }
    return {};
}

}  // namespace crosstalk
