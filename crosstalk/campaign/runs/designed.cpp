// SPDX-License-Identifier: Apache-2.0
// Designed runs of a campaign, with slots of noise and quiet in random order, by crosstalk run.
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/directory.hpp"
#include "crosstalk/campaign/runs/one_run.hpp"
#include "crosstalk/campaign/runs/run_words.hpp"

#include <nlohmann/json.hpp>

#include <ostream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

Words words_of(const OneRun& one)
{
    const Placement placement = placement_of(one.run, one.spec, one.launcher);
    const Split& cores = placement.cores;
    Words words{program("crosstalk"), "run", "--out", one.directory.string()};
    const auto add = [&](const Words& more) { words.insert(words.end(), more.begin(), more.end()); };
    add(one.launcher.options_of_run(placement));
    add({"--duration", base::format(one.spec.duration), "--schedule", one.run.schedule});
    add({"--seed", std::to_string(one.run.seed), "--budget", one.spec.budget, "--evidence", one.spec.evidence});
    if (!cores.shared) add({"--cpus", base::format_cpus(cores.job), "--noise-cpus", base::format_cpus(cores.noise)});
    for (const auto& [option, value] :
         {std::pair{"--step-line", one.spec.step_line}, std::pair{"--step-from", one.spec.step_from},
          std::pair{"--step-region", one.spec.step_region}})
        if (!value.empty()) add({option, value});
    words.emplace_back("--");
    if (one.launcher.is_parent()) add(one.launcher.job(placement));
    add(training_words(one.run, one.spec));
    return words;
}

}  // namespace

std::string make_designed_run(const OneRun& one)
{
    const fs::path log = one.directory / base::part::log / "run.log";
    const Words words = words_of(one);
    const auto child = start({.words = words, .folder = {}, .output = log, .errors = log}, base::allowed_cpus());
    const EndsWhatWasStarted guard;
    std::optional<int> code;
    while (!(code = child->wait(base::Nanoseconds{look_up_every_ns}))) one.look_up();
    if (*code == base::exit_fine) return {};
    const auto status = status_of(one.directory);
    return base::join(status ? status->value("reason", "") : last_line(log), " (", *code, ")");
}

void show_designed_run(std::ostream& out, const OneRun& one)
{
    out << "  " << base::shell_words(words_of(one)) << "\n";
}

}  // namespace crosstalk
