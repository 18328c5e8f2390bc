#include "jobscripts/campaign/launcher.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "jobscripts/programs/programs.hpp"

#include <boost/program_options/parsers.hpp>

#include <csignal>
#include <set>

namespace crosstalk {

namespace {

void append(Words& words, const Words& more)
{
    words.insert(words.end(), more.begin(), more.end());
}

// The first cores among those that noise may have.
base::CpuSet first_cores(const base::CpuSet& cpus, const std::string& count)
{
    std::vector<base::Core> cores = base::physical_cores(cpus);
    const auto wanted = base::parse<std::uint64_t>(count);
    if (wanted > cores.size())
        base::fail_usage("noise is to get ", count, " cores, and there are ", cores.size(), ": ",
                         base::format_cpus(cpus));
    cores.resize(wanted);
    return base::cpus_of(cores);
}

class LocalLauncher : public Launcher {
 public:
    explicit LocalLauncher(const Spec& spec) : spec_{spec} {}

    Split cores_for(const PlannedRun& run) const override
    {
        if (spec_.nodes > 1) base::fail_usage("nodes = ", spec_.nodes, " is for --back-end slurm: this is one machine");
        return cores_of_node(run, spec_);
    }

    Words training(const PlannedRun& run) const override
    {
        if (run.ranks == 0) return {};
        return {"mpirun", "-n", std::to_string(run.ranks), "--oversubscribe", "--bind-to", "none"};
    }

    Words noise(const PlannedRun&) const override { return {}; }

    void end_noise(const PlannedRun&, const base::Child& child) const override { child.signal(SIGTERM); }
    void end_training(const PlannedRun&, const base::Child& child) const override { child.signal(SIGTERM); }

    Words designed(const PlannedRun& run, const std::filesystem::path& out) const override
    {
        const Split cores = cores_for(run);
        Words words{program("crosstalk"), "run", "--out", out.string(), "--duration", base::format(spec_.duration)};
        append(words, {"--schedule", run.schedule, "--seed", std::to_string(run.seed), "--budget", spec_.budget});
        if (!cores.shared)
            append(words, {"--cpus", base::format_cpus(cores.job), "--noise-cpus", base::format_cpus(cores.noise)});
        for (const auto& [option, value] :
             {std::pair{"--step-line", spec_.step_line}, std::pair{"--step-from", spec_.step_from},
              std::pair{"--step-region", spec_.step_region}})
            if (!value.empty()) append(words, {option, value});
        words.emplace_back("--");
        append(words, training(run));
        append(words, training_words(run, spec_));
        return words;
    }

 private:
    const Spec& spec_;
};

}  // namespace

std::unique_ptr<Launcher> local_launcher(const Spec& spec)
{
    return std::make_unique<LocalLauncher>(spec);
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

Words training_words(const PlannedRun& run, const Spec& spec)
{
    const auto split = [](const std::string& text) { return boost::program_options::split_unix(text); };
    if (run.ranks == 0) return split(run.model);
    Words words{"ddl-train",  "--model",    run.model,    "--data", run.data,
                "--strategy", run.strategy, "--progress", "yield"};
    append(words, split(spec.options));
    return words;
}

Words noise_words(const PlannedRun& run, const Spec& spec, const Split& cores)
{
    // It is ended with the training; this is for when nobody is there to do so.
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
    std::set<std::string> taken{""};  // of a quiet run
    for (const PlannedRun& run : plan) {
        if (!taken.insert(run.schedule).second) continue;
        Words words{program("noisegen"),         "--schedule", run.schedule, "--duration",
                    base::format(spec.duration), "--dry-run"};
        if (run.noise == base::campaign::designed) words.emplace_back("--designed");
        const Answer answer = answer_of(words, Errors::in_the_text);
        if (answer.code != base::exit_usage) continue;
        return base::shortened(base::printable(base::trim(answer.text)), 160);
    }
    return {};
}

}  // namespace crosstalk
