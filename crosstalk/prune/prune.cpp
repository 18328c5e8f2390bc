// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/prune/prune.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/contract/os_table.hpp"
#include "base/contract/pruned.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/temporary_directory.hpp"
#include "base/version.hpp"
#include "crosstalk/campaign/directory.hpp"
#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/request/run_directory.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>

#include <sys/stat.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* aside = ".pruned";  // suffix of a name that is being removed

bool is_folder(const fs::path& path)  // false for a link to a folder
{
    std::error_code unknown;
    return fs::is_directory(fs::symlink_status(path, unknown));
}

bool is_file(const fs::path& path)
{
    std::error_code unknown;
    return fs::is_regular_file(fs::symlink_status(path, unknown));
}

// "--step-from MPI_Allreduce --step-every 5"; empty if the run's record does not say which events are steps.
Words choice_of_steps(const fs::path& run)
try {
    const fs::path request = run / base::file::request;
    if (!fs::is_regular_file(request)) return {};
    const auto json = base::read_json(request);
    Words words;
    if (!json.contains("reading")) return {};
    for (const char* name : {"step_region", "step_from", "step_every"})
        if (const auto found = json.at("reading").find(name); found != json.at("reading").end()) {
            std::string option = std::string{"--"} + name;
            option.replace(option.find('_'), 1, "-");
            words.insert(words.end(), {option, found->get<std::string>()});
        }
    return words;
} catch (const std::exception&) {
    return {};
}

// Does request.json say which events of the archive are steps?
bool can_make_table(const fs::path& run)
{
    return !choice_of_steps(run).empty();
}

// Writes steps.csv by trace-steps: the data needed to analyse the run without the archive. Throws Error if it finds no
// steps.
void make_table(const fs::path& run)
{
    const fs::path train = run / base::part::train;
    const base::TemporaryDirectory scratch{"crosstalk-prune"};
    const fs::path out = scratch.path() / "steps";
    Words words{program("trace-steps"), (train / base::file::anchor_in_part).string(), "-o", out.string()};
    const Words choice = choice_of_steps(run);
    words.insert(words.end(), choice.begin(), choice.end());
    const Answer answer = answer_of(words, Errors::in_the_text);
    if (answer.code != base::exit_fine)
        base::fail(run.string(),
                   " is not pruned, because no table of its steps can be made: ", last_message(answer.text));
    base::write_whole(train / base::file::steps, base::read_whole(out / base::file::steps));
}

// Bytes by the files' sizes, whether on disk or not. Links count as 0.
std::uint64_t bytes_in(const fs::path& path)
{
    if (is_file(path)) return fs::file_size(path);
    std::uint64_t bytes = 0;
    if (!is_folder(path)) return bytes;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator{path})
        if (is_file(entry.path())) bytes += fs::file_size(entry.path());
    return bytes;
}

std::vector<fs::path> entries_of(const fs::path& folder)
{
    std::vector<fs::path> entries;
    if (is_folder(folder))
        for (const fs::directory_entry& entry : fs::directory_iterator{folder}) entries.push_back(entry.path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

bool is_numbered(const fs::path& path, const std::string& stem)
{
    const std::string name = path.filename().string();
    return name.size() > stem.size() && name.starts_with(stem) &&
           name.find_first_not_of("0123456789", stem.size()) == std::string::npos;
}

std::optional<Json> record_in(const fs::path& file)
try {
    if (!is_file(file)) return std::nullopt;
    Json json = base::read_json(file);
    return json.is_object() ? std::optional{std::move(json)} : std::nullopt;
} catch (const std::exception&) {
    return std::nullopt;
}

bool is_run(const fs::path& directory)
{
    return is_folder(directory / base::part::train) &&
           (is_file(directory / base::part::train / base::file::run_record) ||
            is_file(directory / base::file::request));
}

// Empty if training and noise have ended according to their records; else the reason to keep the run.
std::string still_going(const fs::path& run)
{
    const auto training = record_in(run / base::part::train / base::file::run_record);
    if (!training) return "the record of its training is missing or incomplete";
    if (training->value("program", "") == "ddl-train" && !training->contains("result"))
        return "its training has not ended, or was killed";
    for (const fs::path& process : entries_of(run / base::part::noise)) {
        if (!is_folder(process)) continue;
        const auto noise = record_in(process / base::file::noise_record);
        if (!noise || !noise->contains("end_ns") || (*noise)["end_ns"].is_null())
            return "its noise has not ended, or was killed";
    }
    return "";
}

std::string too_young(const fs::path& report, const PruneRules& rules)
{
    if (!rules.older_than) return "";
    struct stat found {};
    if (::stat(report.c_str(), &found) != 0) return "there is no " + report.string();
    const auto age = std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(found.st_mtime);
    return age < *rules.older_than ? "its report is younger than --older-than" : "";
}

// Did all noise run on one node, so that its clock is that of the steps table?
bool is_of_one_node(const fs::path& run)
{
    std::set<std::string> hosts;
    for (const fs::path& process : entries_of(run / base::part::noise))
        if (is_folder(process)) hosts.insert(process.stem().string());
    return hosts.size() == 1;
}

void add(PrunableRun& run, const std::string& path, const std::string& what)
{
    const fs::path whole = run.directory / path;
    if (is_folder(whole) || is_file(whole)) run.losses.push_back({path, bytes_in(whole), what});
    const std::string left = path + aside;
    if (is_folder(run.directory / left))
        run.losses.push_back({left, bytes_in(run.directory / left), "left by an interrupted prune"});
}

// Log files of a run, without the lock by which runs exclude each other.
std::vector<fs::path> logs_of(const fs::path& run)
{
    std::vector<fs::path> logs = entries_of(run / base::part::log);
    std::erase_if(logs, [](const fs::path& entry) { return entry.filename() == "lock" || fs::is_symlink(entry); });
    return logs;
}

void add_trace(PrunableRun& run, const std::string& trace)
{
    const bool has_table = is_file(run.directory / base::part::train / base::file::steps);
    const bool has_archive = is_file(run.directory / trace / base::file::anchor);
    run.makes_table = has_archive && !has_table && is_of_one_node(run.directory) && can_make_table(run.directory);
    const auto before = record_in(run.directory / base::file::pruned);
    run.can_analyse = has_archive || !before ? is_of_one_node(run.directory) && (has_table || run.makes_table)
                                             : before->value(base::pruned::can_analyse, false);
    add(run, trace,
        run.can_analyse ? "the training's archive: no trace-waits, Vampir, MPI and GPU parts; analyse reads steps.csv"
                        : "the training's archive: no analysis, trace-waits, Vampir; the report stays");
}

void find_losses(PrunableRun& run, const PruneRules& rules)
{
    const fs::path train = base::part::train;
    add_trace(run, (train / base::file::trace).string());
    add(run, (train / "data").string(), "the data set that the training generated, and generates again when repeated");
    if (rules.checkpoints) add(run, (train / "checkpoints").string(), "checkpoints: the training cannot be resumed");
    for (const fs::path& entry : entries_of(run.directory))  // data of a training that was resumed
        if (is_numbered(entry, "train.") && is_folder(entry))
            add(run, (entry.filename() / base::file::trace).string(), "the archive of a training that was resumed");
    for (const fs::path& host : entries_of(run.directory / base::os::folder))
        add(run, (fs::path{base::os::folder} / host.filename() / base::file::trace).string(),
            "interruptions as an archive: no merged time line; analyse reads os.csv");
    std::uint64_t logs = 0;
    for (const fs::path& log : logs_of(run.directory)) logs += bytes_in(log);
    if (!logs_of(run.directory).empty())
        run.losses.push_back({base::part::log, logs, "what the job and noise printed"});
}

PrunableRun looked_at(const fs::path& directory, const fs::path& proof, const PruneRules& rules)
{
    PrunableRun run{.directory = directory, .kept_because = {}, .losses = {}};
    run.bytes = bytes_in(directory);
    run.kept_because = still_going(directory);
    if (run.kept_because.empty() && !is_file(proof))
        run.kept_because = base::join("it has no report (interference analyse ", directory.string(), ")");
    if (run.kept_because.empty()) run.kept_because = too_young(proof, rules);
    if (run.kept_because.empty()) find_losses(run, rules);
    return run;
}

// proof: file or folder which shows that the run was analysed, or counts.
std::vector<PrunableRun> with_parts(const fs::path& directory, const fs::path& proof, const PruneRules& rules)
{
    std::vector<fs::path> parts{directory};
    for (const fs::path& entry : entries_of(directory))
        if (is_numbered(entry, base::part::added) && is_run(entry)) parts.push_back(entry);
    const bool one_is_written = std::any_of(parts.begin(), parts.end(), is_being_written);
    std::vector<PrunableRun> runs;
    for (const fs::path& part : parts) {
        runs.push_back(looked_at(part, proof, rules));
        if (one_is_written) runs.back().kept_because = "a run writes into it";  // the report will cover all parts
    }
    return runs;
}

fs::path report_of(const fs::path& directory)
{
    return directory / base::part::report / base::file::verdict;
}

void append(std::vector<PrunableRun>& runs, const std::vector<PrunableRun>& more)
{
    runs.insert(runs.end(), more.begin(), more.end());
}

// Runs that count. A campaign's tables are made from their steps.csv and noise.csv, which are kept.
std::vector<PrunableRun> runs_of_campaign(const fs::path& directory, const PruneRules& rules)
{
    if (is_being_run(CampaignDirectory{directory}))
        base::fail_usage(directory.string(), " is a campaign that is being run (crosstalk campaign stop ends it)");
    std::vector<PrunableRun> runs;
    for (const fs::path& entry : entries_of(directory / base::campaign::runs))
        if (!entry.filename().string().ends_with(base::campaign::partial) && is_folder(entry) && is_run(entry))
            append(runs, with_parts(entry, entry / base::file::status, rules));
    return runs;
}

std::string now()
{
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

void write_record(const PrunableRun& run)
{
    const fs::path file = run.directory / base::file::pruned;
    Json json = record_in(file).value_or(Json::object());
    std::uint64_t bytes = json.value(base::pruned::bytes, std::uint64_t{0});
    Json removed = json.value(base::pruned::removed, Json::array());
    for (const Loss& loss : run.losses) {
        bytes += loss.bytes;
        const std::string path =
            loss.path.ends_with(aside) ? loss.path.substr(0, loss.path.size() - std::string{aside}.size()) : loss.path;
        if (std::find(removed.begin(), removed.end(), path) == removed.end()) removed.push_back(path);
    }
    json["format"] = base::format_version;
    json["version"] = base::version();
    json[base::pruned::when] = now();
    json[base::pruned::removed] = removed;
    json[base::pruned::bytes] = bytes;
    json[base::pruned::can_analyse] = run.can_analyse;
    base::write_whole(file, base::json_text(json) + "\n");
}

}  // namespace

std::vector<PrunableRun> prunable_runs(const fs::path& directory, const PruneRules& rules)
{
    if (!fs::is_directory(directory)) base::fail_usage("there is no directory ", directory.string());
    base::refuse_foreign(directory);
    if (is_file(directory / base::campaign::spec) && is_file(directory / base::campaign::plan))
        return runs_of_campaign(directory, rules);
    std::vector<PrunableRun> runs;
    if (is_run(directory)) return with_parts(directory, report_of(directory), rules);
    for (const fs::path& entry : entries_of(directory)) {
        if (!is_numbered(entry, base::part::one_of_runs) || !is_run(entry)) continue;
        const bool has_own = is_file(report_of(entry));
        append(runs, with_parts(entry, report_of(has_own ? entry : directory), rules));
    }
    if (runs.empty()) base::fail_usage(directory.string(), " is not a run, set of runs or campaign of crosstalk");
    return runs;
}

void prune(const PrunableRun& run)
{
    if (run.losses.empty()) return;
    if (run.makes_table) make_table(run.directory);
    write_record(run);
    for (const Loss& loss : run.losses) {
        const fs::path whole = run.directory / loss.path;
        if (loss.path == base::part::log) {
            for (const fs::path& log : logs_of(run.directory)) base::remove_tree(log);
            continue;
        }
        if (!is_folder(whole) || loss.path.ends_with(aside)) {
            base::remove_tree(whole);
            continue;
        }
        const fs::path away = whole.string() + aside;
        base::remove_tree(away);
        fs::rename(whole, away);
        base::remove_tree(away);
    }
}

}  // namespace crosstalk
