// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/run_files.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/contract/pruned.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace analysis {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The record that crosstalk prune wrote; null if nothing was removed.
Json pruned(const fs::path& directory)
{
    const fs::path file = directory / base::file::pruned;
    return fs::exists(file) ? base::read_json(file) : Json{};
}

std::string when_pruned(const Json& record)
{
    return record.value(base::pruned::when, std::string{"some day"});
}

// Path of the training's archive, or of its table of steps. ddl-train's table counts only for a pruned run, because it
// exists also where the archive was cut off.
fs::path training_in(const fs::path& directory)
{
    const fs::path part = directory / base::part::train;
    fs::path archive = part / base::file::anchor_in_part;
    if (fs::exists(archive)) return archive;
    fs::path table = part / base::file::steps;
    const bool of_ddl_train = fs::exists(part / base::file::run_record);
    const Json record = pruned(directory);
    if (record.is_object() && !(record.value(base::pruned::can_analyse, false) && fs::exists(table)))
        base::fail(directory.string(), " was pruned at ", when_pruned(record),
                   ": its archive is gone, and only its report is left");
    if (fs::exists(table) && (!of_ddl_train || record.is_object())) return table;
    base::fail("there is no ", archive.string(), ": no training, or one that was cut off");
}

std::vector<fs::path> noise_in(const fs::path& part)
{
    std::vector<fs::path> noise;
    if (fs::is_directory(part))
        for (const fs::directory_entry& process : fs::directory_iterator{part})
            if (process.is_directory()) noise.push_back(process.path() / base::file::anchor_in_part);
    if (noise.empty()) base::fail("there is no noise process in ", part.string());
    std::sort(noise.begin(), noise.end());
    return noise;
}

// Takes from request.json the definition of a step that `crosstalk run` found, and how the run ended.
void take_record(RunFiles& files, std::string& steps, const fs::path& directory, const Given& given)
{
    const fs::path record = directory / base::file::request;
    if (!fs::exists(record)) return;
    const Json json = base::read_json(record);
    files.settings.looks = looks_at(directory);
    const Json reading = json.value("reading", Json::object());
    if (!given.budget) files.settings.budget_text = recorded_budget(directory).value_or(files.settings.budget_text);
    if (!given.warm_up) files.settings.warm_up_text = reading.value("warmup", files.settings.warm_up_text);
    if (files.settings.clock_offset.empty()) files.settings.clock_offset = reading.value("clock_offset", std::string{});
    const otf2::StepChoice& chosen = files.settings.steps;
    if (given.steps.empty() && chosen.region.empty() && chosen.from.empty()) {
        const int every = base::parse<int>(reading.value("step_every", std::string{"1"}));
        files.settings.steps = {reading.value("step_region", std::string{}), reading.value("step_from", std::string{}),
                                chosen.every > 1 ? chosen.every : every};
        files.settings.step_is = reading.value("step_is", std::string{});
        const std::string table = reading.value("steps", std::string{});
        if (!table.empty()) steps = (directory / table).string();
    }
    check(files.settings);
}

// Takes the record of a pruned run, whose steps were chosen when the table was made from the archive.
void take_pruned(RunFiles& files, const Json& record)
{
    if (!record.is_object()) return;
    files.pruned = when_pruned(record);
    files.settings.steps = {};
}

RunFiles files_in(const fs::path& directory, const std::string& name, const Settings& settings, const Given& given)
try {
    RunFiles files{.name = name, .directory = directory, .train = {}, .noise = {}, .settings = settings};
    std::string steps = given.steps;
    take_record(files, steps, directory, given);
    files.train = steps.empty() ? training_in(directory) : fs::path{steps};
    if (files.train.extension() == ".csv" && given.steps.empty()) take_pruned(files, pruned(directory));
    files.noise = noise_in(directory / base::part::noise);
    return files;
} catch (const nlohmann::json::exception& error) {
    base::fail((directory / base::file::request).string(), " is invalid: ", error.what());
}

// The directories "run-1", "run-2", .. in a directory, by number.
std::vector<fs::path> numbered(const fs::path& directory, const std::string& stem)
{
    std::map<int, fs::path> all;
    for (const fs::directory_entry& entry : fs::directory_iterator{directory}) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(stem) || !entry.is_directory()) continue;
        const std::string number = name.substr(stem.size());
        if (number.empty() || number.size() > 6 || number.find_first_not_of("0123456789") != std::string::npos)
            continue;
        all.emplace(std::stoi(number), entry.path());
    }
    std::vector<fs::path> paths;
    for (const auto& [number, path] : all) paths.push_back(path);
    return paths;
}

RunParts parts_in(const fs::path& directory, const std::string& name, const Settings& settings, const Given& given)
{
    RunParts parts{files_in(directory, name, settings, given)};
    for (const fs::path& added : numbered(directory, base::part::added))
        parts.push_back(files_in(added, name + "/" + added.filename().string(), settings, given));
    return parts;
}

std::string name_of(const fs::path& directory)
{
    const fs::path normal = fs::absolute(directory).lexically_normal();
    return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

std::optional<std::string> recorded_text(const fs::path& directory, const char* name)
{
    const fs::path record = directory / base::file::request;
    if (!fs::exists(record)) return std::nullopt;
    const Json json = base::read_json(record);
    const auto text = json.find(name);
    return text != json.end() && text->is_string() ? std::optional{text->get<std::string>()} : std::nullopt;
}

// Names runs by their paths if two directories have the same name.
void name_by_place(std::vector<RunParts>& runs)
{
    for (RunParts& parts : runs)
        for (RunFiles& part : parts) part.name = part.directory.string();
}

}  // namespace

void refuse_campaign(const fs::path& directory)
{
    if (!fs::exists(directory / base::campaign::spec) || fs::exists(directory / base::part::train)) return;
    base::fail(directory.string(), " is a campaign: its report is made by crosstalk campaign collect ",
               base::shell_word(directory.string()));
}

std::optional<std::string> recorded_budget(const fs::path& directory)
{
    return recorded_text(directory, "budget");
}

Looks looks_at(const fs::path& directory)
{
    const fs::path file = directory / base::file::request;
    const Json record = fs::exists(file) ? base::read_json(file) : Json::object();
    if (record.value("until", Json{}) != base::until_decided) return Looks::none;
    return record.value("reached_its_end", Json{}) == true ? Looks::at_the_end : Looks::on_the_way;
}

std::vector<RunParts> runs_in(const std::vector<std::string>& directories, const Settings& settings, const Given& given)
{
    std::vector<RunParts> runs;
    for (const fs::path directory : directories) {
        if (!fs::is_directory(directory)) base::fail("there is no directory ", directory.string());
        const std::vector<fs::path> set = numbered(directory, base::part::one_of_runs);
        if (set.empty() || fs::exists(directory / base::part::train))
            runs.push_back(parts_in(directory, name_of(directory), settings, given));
        else
            for (const fs::path& run : set) runs.push_back(parts_in(run, name_of(run), settings, given));
    }
    std::set<std::string> names;
    for (std::size_t r = 0; r < runs.size(); ++r)
        if (!names.insert(runs[r].front().name).second) name_by_place(runs);
    if (runs.size() > 1 && !given.steps.empty())
        base::fail_usage("--steps is the table of one run, but these are ", runs.size(), " runs");
    return runs;
}

std::vector<fs::path> archives_of(const std::vector<RunParts>& runs)
{
    std::vector<fs::path> archives;
    for (const RunParts& parts : runs)
        for (const RunFiles& part : parts) {
            archives.push_back(part.train);
            archives.insert(archives.end(), part.noise.begin(), part.noise.end());
        }
    return archives;
}

std::string lost_noise_record(const Record& record)
{
    if (record.what != "noise" || !record.json.is_null()) return {};
    std::error_code ignored;
    const fs::path folder = record.archive.parent_path().parent_path();
    const bool is_there = fs::exists(folder / base::file::noise_record, ignored);
    if (!is_there && !fs::exists(folder / base::file::noise_rows, ignored)) return {};
    return base::join("the record of the noise, ", (folder / base::file::noise_record).string(), ", ",
                      is_there ? "cannot be read" : "is missing", ", so it is unknown whether noise ran as planned");
}

Record record_beside(const fs::path& archive, const std::string& what, const std::string& name,
                     std::vector<std::string>& notes)
{
    for (const fs::path& folder : {archive.parent_path().parent_path(), archive.parent_path()}) {
        std::error_code ignored;
        if (!fs::is_regular_file(folder / name, ignored)) continue;
        try {
            return {what, archive, base::read_json(folder / name)};
        } catch (const base::Error& error) {
            notes.push_back(base::join("the record of the ", what, " is left out: ", error.what()));
        } catch (const nlohmann::json::exception&) {
            notes.push_back(
                base::join("the record of the ", what, " is left out: ", (folder / name).string(), " is not JSON"));
        }
        break;
    }
    return {what, archive, nullptr};
}

}  // namespace analysis
