// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/results.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/environment.hpp"
#include "base/words.hpp"
#include "crosstalk/run/junit.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string reason_for(int code)
{
    if (code == base::exit_promise_not_kept) return "noise did not cover the training, or did not reach its rate";
    if (code == base::exit_fine) return "noise covered the training";
    return base::join("interference ended with ", code);
}

// A Markdown table with rows such as "| memory.stream | +7.57 % | 5.13 to 10.01 % | unsafe |".
std::string markdown(const Json& verdict)
{
    std::string table =
        base::join("| noise | slowdown of a step | 95 % interval | verdict at ",
                   base::fixed(verdict.at("budget_percent").get<double>(), 2), " % |\n| --- | ---: | ---: | --- |\n");
    for (const auto& [name, factor] : verdict.at("factors").items())
        table += base::join("| ", name, " | ", base::fixed(factor.at("effect_percent").get<double>(), 2), " % | ",
                            base::fixed(factor.at("low_percent").get<double>(), 2), " to ",
                            base::fixed(factor.at("high_percent").get<double>(), 2), " % | ",
                            factor.at("verdict").get<std::string>(), " |\n");
    table += base::join("\nQuiet step: ", base::fixed(verdict.at("quiet_step_ms").get<double>(), 2), " ms. This run ",
                        verdict.at("trustworthy").get<bool>() ? "is trustworthy.\n" : "is not trustworthy:\n");
    for (const Json& reason : verdict.at("reasons")) table += "- " + reason.get<std::string>() + "\n";
    return table;
}

}  // namespace

void write_status(const Request& request, int code, const std::string& reason)
{
    const fs::path summary = request.whole / base::part::report / base::file::summary;
    Json status;
    const bool in_job = request.back_end == "step";
    status["job"] = in_job ? base::environment("SLURM_JOB_ID").value_or("") : "local";
    status["nodes"] = in_job ? base::environment_number("SLURM_JOB_NUM_NODES").value_or(1) : 1;
    status["exit_code"] = code;
    status["reason"] = reason.empty() ? reason_for(code) : reason;
    if (fs::exists(summary))
        status.update(base::read_json(summary));
    else
        status["covered"] = code == base::exit_promise_not_kept ? Json(false) : Json(nullptr);
    status["analysis_exit_code"] = reason.empty() ? Json(code) : Json(nullptr);
    base::write_whole(request.whole / base::file::status, base::json_text(status, base::one_line) + "\n");
}

void export_failure(const Request& request, const std::string& why)
{
    if (!request.exports.junit.empty()) base::write_whole(request.exports.junit, junit_without_report(why));
}

void export_results(const Request& request)
{
    const fs::path report = request.whole / base::part::report;
    if (!fs::exists(report / base::file::verdict)) return export_failure(request, "there is no verdict");
    if (!request.exports.json.empty())
        base::write_whole(request.exports.json, base::read_whole(report / base::file::verdict));
    if (!request.exports.csv.empty())
        base::write_whole(request.exports.csv, base::read_whole(report / base::file::effects));
    if (!request.exports.junit.empty())
        base::write_whole(request.exports.junit, junit(base::read_json(report / base::file::verdict)));
    if (!request.exports.markdown.empty())
        base::write_whole(request.exports.markdown, markdown(base::read_json(report / base::file::verdict)));
}

}  // namespace crosstalk
