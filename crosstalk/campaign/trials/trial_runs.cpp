// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/trials/trial_runs.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/stop.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/progress.hpp"
#include "crosstalk/campaign/trials/trial_names.hpp"
#include "crosstalk/campaign/trials/trial_plan.hpp"
#include "crosstalk/programs/programs.hpp"

#include <boost/program_options/parsers.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>

namespace crosstalk {

namespace fs = std::filesystem;

namespace {

using TrialWords = std::vector<std::string>;

TrialWords training_of(const TrialSpec& spec, const std::string& strategy)
{
    TrialWords words;
    if (spec.ranks > 1) words = {"mpirun", "-n", std::to_string(spec.ranks), "--oversubscribe", "--bind-to", "none"};
    words.insert(words.end(), {program("ddl-train"), "--model", spec.model, "--strategy", strategy});
    for (const std::string& word : boost::program_options::split_unix(spec.options)) words.push_back(word);
    return words;
}

// Runs a training and returns its exit code. On a signal, the training ends after the current trial.
int run_to_end(const TrialWords& words)
{
    const std::unique_ptr<base::Child> child = start({.words = words, .output = "/dev/null"}, {});
    try {
        return wait_for(*child);
    } catch (...) {
        end_started_processes();
        throw;
    }
}

// Runs trials likewise. A trial that was killed because it took too long to end has not crashed, so it is repeated.
int make_trials(const TrialWords& words, const fs::path& out)
try {
    return run_to_end(words);
} catch (...) {
    fs::remove(out / base::part::train / base::file::trial_begun);
    throw;
}

std::vector<base::Outcome> rows_of(const fs::path& run)
{
    const fs::path file = run / base::part::train / base::file::outcomes;
    return fs::exists(file) ? base::read_outcomes(file) : std::vector<base::Outcome>{};
}

bool has_ended(const fs::path& run)
{
    const fs::path record = run / base::part::train / base::file::run_record;
    return fs::exists(record) && !base::read_json(record).at("result").is_null();
}

fs::path seed_directory(const fs::path& directory, int number)
{
    return directory / base::join("seed-", number);
}

bool train_seed(const TrialSpec& spec, const fs::path& directory, int number)
{
    const fs::path out = seed_directory(directory, number);
    if (has_ended(out)) return true;
    base::remove_tree(out);                 // left by an interrupted training
    constexpr std::uint64_t beyond = 1000;  // distance from the training's own seed, by default 1
    TrialWords words = training_of(spec, spec.strategies.front());
    words.insert(words.end(), {"--seed", std::to_string(beyond + static_cast<std::uint64_t>(number)), "--steps",
                               std::to_string(spec.end), "--trace", "off", "--out", out.string()});
    return run_to_end(words) == base::exit_fine;
}

// Runs the trials until all have ended. Restarts the process if it died and added a row, which is that of the crashed
// trial.
bool make_all(const TrialSpec& spec, const fs::path& directory, const std::string& strategy, std::size_t trials)
{
    const fs::path out = directory / strategy;
    TrialWords words = training_of(spec, strategy);
    words.insert(words.end(), {"--trials", (directory / base::file::trials).string(), "--out", out.string()});
    bool first = true;
    for (std::size_t rows = rows_of(out).size(); rows < trials || !has_ended(out);) {
        const int code = make_trials(words, out);
        const std::size_t now = rows_of(out).size();
        if (code == base::exit_usage || (now == rows && !first)) return now == trials && has_ended(out);
        rows = now;
        first = code == base::exit_fine;
    }
    return true;
}

// Throws UsageError with ddl-train's message if a trial names a tensor, bit or rank that the training lacks. Trials
// that have already begun were checked before.
void check_trials(const TrialSpec& spec, const fs::path& directory, const std::string& strategy)
{
    const fs::path out = directory / strategy;
    if (fs::exists(out / base::part::train)) return;
    TrialWords words = training_of(spec, strategy);
    words.insert(words.end(),
                 {"--trials", (directory / base::file::trials).string(), "--check", "--out", out.string()});
    const Answer answer = answer_of(words, Errors::in_the_text);
    if (answer.code == base::exit_fine) return;
    constexpr const char* begin = "ddl-train: ";
    std::istringstream lines{answer.text};
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(begin))
            base::fail_usage("these trials are not possible: ", line.substr(std::string_view{begin}.size()));
    base::fail("ddl-train --check failed with exit code ", answer.code, ": ", base::join_words(words, " "));
}

// Locks the campaign's trials for this process; none if another process holds the lock. A file system without locks is
// used without one.
std::optional<base::Descriptor> lock_of(const fs::path& directory)
{
    const fs::path file = directory / base::file::trials;
    base::Descriptor lock = base::check_errno(::open(file.c_str(), O_RDONLY | O_CLOEXEC), "open ", file.string());
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
    return lock;
}

}  // namespace

int run_trials(const fs::path& directory)
{
    std::optional<base::Descriptor> lock;
    const auto locked = [&] { return (lock = lock_of(directory)).has_value(); };
    constexpr std::int64_t patience_ns = 200'000'000;  // `campaign status` holds the lock for a moment
    if (!base::wait_until(locked, patience_ns))
        base::fail_usage(directory.string(), " is being run by another crosstalk campaign run");
    const TrialSpec spec = read_trial_spec(directory / base::campaign::spec);
    if (const std::string why = unknown_name_in(spec); !why.empty())
        base::fail_usage("these trials cannot run here: ", why);
    const std::size_t trials = base::read_trials(directory / base::file::trials).size();
    base::stop_on_signals();
    prepare_for_mpi();
    for (const std::string& strategy : spec.strategies) check_trials(spec, directory, strategy);
    const EndsWhatWasStarted guard;
    for (int number = 1; number <= spec.seeds; ++number)
        if (!train_seed(spec, directory, number)) {
            base::warn("the undisturbed training ", seed_directory(directory, number).string(), " failed");
            return base::exit_promise_not_kept;
        }
    for (const std::string& strategy : spec.strategies)
        if (!make_all(spec, directory, strategy, trials)) {
            base::warn("the trials in ", (directory / strategy).string(), " did not continue");
            return base::exit_promise_not_kept;
        }
    return base::exit_fine;
}

int collect_trials(const fs::path& directory)
{
    const TrialSpec spec = read_trial_spec(directory / base::campaign::spec);
    TrialWords words{program("interference"), "outcomes"};
    for (const std::string& strategy : spec.strategies)
        if (!rows_of(directory / strategy).empty()) words.push_back((directory / strategy).string());
    if (words.size() == 2) base::fail("no trial has ended yet: crosstalk campaign run ", directory.string());
    for (int number = 1; number <= spec.seeds; ++number) {
        words.emplace_back("--band");
        words.push_back(seed_directory(directory, number).string());
    }
    const fs::path report = directory / base::part::report;
    fs::path earlier = report;
    earlier += ".earlier";
    if (fs::exists(report)) {
        base::remove_tree(earlier);
        fs::rename(report, earlier);
    }
    words.emplace_back("--out");
    words.push_back(report.string());
    const std::unique_ptr<base::Child> child = start({.words = words}, {});
    const int code = wait_for(*child);
    if (fs::exists(report))
        base::remove_tree(earlier);
    else if (fs::exists(earlier))
        fs::rename(earlier, report);
    return code;
}

TrialStanding trial_standing(const fs::path& directory)
{
    const TrialSpec spec = read_trial_spec(directory / base::campaign::spec);
    TrialStanding standing{.seeds = spec.seeds,
                           .trials = base::read_trials(directory / base::file::trials).size(),
                           .done = {},
                           .is_being_run = !lock_of(directory)};
    for (int number = 1; number <= spec.seeds; ++number)
        standing.seeds_done += has_ended(seed_directory(directory, number)) ? 1 : 0;
    double took_s = 0.0;
    std::size_t ended = 0;
    for (const std::string& strategy : spec.strategies) {
        const std::vector<base::Outcome> rows = rows_of(directory / strategy);
        standing.done[strategy] = rows.size();
        ended += rows.size();
        for (const base::Outcome& row : rows) took_s += row.seconds;
    }
    const double each_s = ended == 0 ? base::seconds(spec.trial_time) : took_s / static_cast<double>(ended);
    standing.seconds_left = each_s * static_cast<double>(spec.strategies.size() * standing.trials - ended);
    return standing;
}

void print(std::ostream& out, const TrialStanding& standing)
{
    out << standing.seeds_done << " of " << standing.seeds << " undisturbed trainings have ended\n";
    for (const auto& [strategy, done] : standing.done)
        out << strategy << ": " << done << " of " << standing.trials << " trials have ended\n";
    if (standing.seconds_left > 0.0) out << duration_left(standing.seconds_left) << " left\n";
    out << being_run(standing.is_being_run) << "\n";
}

void print_json(std::ostream& out, const TrialStanding& standing)
{
    nlohmann::ordered_json json;
    json["format"] = base::format_version;
    json["seeds"] = standing.seeds;
    json["seeds_done"] = standing.seeds_done;
    json["trials"] = standing.trials;
    json["done"] = standing.done;
    json["seconds_left"] = standing.seconds_left;
    json["is_being_run"] = standing.is_being_run;
    out << base::json_text(json, base::one_line) << "\n";
}

}  // namespace crosstalk
