// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/leftover.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/trace_names.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/programs.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t enough_steps = 20;

bool has_noise(const fs::path& run)
{
    std::error_code none;
    for (const fs::directory_entry& process : fs::directory_iterator{run / base::part::noise, none})
        if (fs::exists(process.path() / base::file::anchor_in_part)) return true;
    return false;
}

// A command that analyses the recorded steps or, if there are none, takes the MPI call that rank 0 makes most often as
// steps; empty if there is neither.
std::string analyse_by_archive(const std::string& analyse, const fs::path& anchor)
{
    const Answer answer = answer_of({program("trace-info"), "--json", anchor}, Errors::in_the_text);
    const Json info = Json::parse(answer.text, nullptr, false);
    std::string most;
    std::uint64_t visits = enough_steps;
    if (!info.is_object() || !info.contains("regions")) return most;
    for (const Json& region : info.at("regions")) {
        const std::string name = region.value("name", "");
        if (name == base::region::step && region.value("visits", std::uint64_t{0}) > enough_steps) return analyse;
        if (!name.starts_with("MPI_") || region.value("visits", std::uint64_t{0}) <= visits) continue;
        most = name;
        visits = region.value("visits", std::uint64_t{0});
    }
    return most.empty() ? "" : analyse + " --step-from " + most;
}

}  // namespace

std::string command_for_a_report(const Request& request, base::Nanoseconds missing)
{
    const fs::path train = request.out / base::part::train;
    if (missing.count() > 0 && fs::exists(request.whole / base::file::request))
        return base::join("crosstalk run --extend ", base::shell_word(request.whole.string()), " --duration ",
                          base::format(missing));
    if (missing.count() > 0 || !has_noise(request.out)) return "";
    const std::string analyse = "interference analyse " + base::shell_word(request.out.string());
    const fs::path anchor = train / base::file::anchor_in_part;
    const fs::path table = train / base::file::steps;
    if (fs::exists(anchor)) return analyse_by_archive(analyse, anchor);
    if (!fs::exists(table) || base::CsvTable{table}.rows() < enough_steps) return "";
    return analyse + " --steps " + base::shell_word(table.string());
}

std::string left_out_by_recording(const Request& request)
{
    std::ifstream log{request.out / base::part::log / "job.log"};
    for (std::string line; std::getline(log, line);)
        if (line.find("was started by MPI_Comm_spawn") != std::string::npos) return base::printable(line);
    return "";
}

}  // namespace crosstalk
