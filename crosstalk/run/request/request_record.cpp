// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/request/request_record.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// JSON members for options: "--step-from" becomes step_from. The path of a steps table is relative to the run, which
// may be moved.
Json members(const std::vector<std::string>& options, const fs::path& run)
{
    Json json = Json::object();
    for (std::size_t i = 0; i + 1 < options.size(); i += 2) {
        std::string name = options[i].substr(2);
        std::replace(name.begin(), name.end(), '-', '_');
        json[name] = name == "steps" ? fs::proximate(options[i + 1], run).string() : options[i + 1];
    }
    return json;
}

// Seed in the noise's record, the only record of a killed run. 0 if it cannot be read.
std::uint64_t seed_of_noise(const fs::path& record)
try {
    return base::read_json(record).value("seed", std::uint64_t{0});
} catch (const std::exception&) {
    return 0;
}

// CPUs from a member; empty: not given.
base::CpuSet cpus_in(const Json& json)
{
    const auto text = json.get<std::string>();
    return text.empty() ? base::CpuSet{} : base::parse_cpus(text);
}

}  // namespace

void write_request(const Request& request, const std::vector<std::string>& reading, bool reached_its_end)
{
    Json json;
    json["format"] = base::format_version;
    json["command"] = request.command;
    json["folder"] = request.folder.string();
    json["input"] = request.input.string();
    json["python"] = request.python;
    json["duration_ns"] = request.duration.count();
    json["until"] = request.until_decided ? base::until_decided : "";
    json["reached_its_end"] = reached_its_end;
    json["schedule"] = request.schedule;
    json["slot"] = request.slot;
    json["seed"] = request.seed;
    json["cpus"] = base::format_cpus(request.job_cpus);
    json["noise_cpus"] = base::format_cpus(request.noise_cpus);
    json["noise_launch"] = request.noise_launch;
    json["back_end"] = request.back_end;
    json["ranks_per_node"] = request.ranks_per_node;
    json["gpus_per_node"] = request.gpus_per_node;
    json["cores_seed"] = request.cores_seed;
    json["evidence"] = request.evidence;
    json["delay"] = request.control_delay;
    json["step_region"] = request.step_region;
    json["step_from"] = request.step_from;
    json["step_every"] = request.step_every;
    json["step_line"] = request.step_line;
    json["steps"] = request.steps;
    json["budget"] = request.budget;
    json["noises"] = request.noises;
    json["blind_slot"] = request.blind_slot;
    json["reading"] = members(reading, request.out);
    base::write_whole(request.out / base::file::request, base::json_text(json) + "\n", base::for_this_user);
}

Request read_request(const fs::path& run)
try {
    const fs::path file = run / base::file::request;
    if (!fs::exists(file))
        base::fail("there is no ", file.string(), ": not a run of crosstalk run, or it ended too early");
    const Json json = base::read_json(file);
    Request request;
    request.command = json.at("command").get<std::vector<std::string>>();
    request.folder = json.at("folder").get<std::string>();
    request.input = json.value("input", std::string{});
    request.python = json.value("python", std::string{});
    request.duration = base::Nanoseconds{json.at("duration_ns").get<std::int64_t>()};
    request.schedule = json.at("schedule");
    request.slot = json.at("slot");
    request.seed = json.at("seed");
    request.job_cpus = cpus_in(json.at("cpus"));
    request.noise_cpus = cpus_in(json.at("noise_cpus"));
    request.noise_launch = json.value("noise_launch", "");
    request.back_end = json.value("back_end", request.back_end);
    request.ranks_per_node = json.value("ranks_per_node", 0);
    request.gpus_per_node = json.value("gpus_per_node", 0);
    request.cores_seed = json.at("cores_seed");
    request.evidence = json.value("evidence", request.evidence);
    request.control_delay = json.at("delay");
    request.step_region = json.at("step_region");
    request.step_from = json.at("step_from");
    request.step_every = json.value("step_every", 1);
    request.step_line = json.at("step_line");
    request.steps = json.at("steps");
    request.budget = json.at("budget");
    request.noises = json.value("noises", request.noises);
    request.blind_slot = json.value("blind_slot", request.blind_slot);
    return request;
} catch (const nlohmann::json::exception& error) {
    base::fail((run / base::file::request).string(), " is invalid: ", error.what());
}

std::uint64_t fresh_seed(const fs::path& directory)
{
    std::uint64_t largest = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator{directory}) {
        const fs::path& path = entry.path();
        if (path.filename() == base::file::request) largest = std::max(largest, read_request(path.parent_path()).seed);
        if (path.filename() == base::file::noise_record) largest = std::max(largest, seed_of_noise(path));
    }
    return largest + 1;
}

fs::path next_in(const fs::path& directory, const std::string& stem, int first)
{
    int number = first;
    while (fs::exists(directory / (stem + std::to_string(number)))) ++number;
    return directory / (stem + std::to_string(number));
}

}  // namespace crosstalk
