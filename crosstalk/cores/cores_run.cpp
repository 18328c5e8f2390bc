// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/cores/cores_run.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"
#include "crosstalk/run/designed_run.hpp"
#include "crosstalk/run/sources/step_source.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* threads_variable = "OMP_NUM_THREADS";

// The report of one run.
struct CoresReport {
    int threads = 0;  // 0: the job's own choice
    fs::path run;
    Json json;
};

std::optional<CoresReport> report_of(const fs::path& run, int threads)
{
    const fs::path file = run / base::part::report / base::file::cores_record;
    if (!fs::exists(file)) return std::nullopt;
    return CoresReport{threads, run, base::read_json(file)};
}

// The entry of job.cores, the only noise of such a run.
const Json& answer_in(const CoresReport& report)
{
    return report.json.at("cores").at(0);
}

bool has_number(const CoresReport& report)
{
    return answer_in(report).at("keep").is_number_integer();
}

double quiet_step_ms(const CoresReport& report)
{
    return report.json.at("quiet_step_ms").get<double>();
}

// The report that needs the fewest cores, then the fewest threads, among those whose quiet step is within the budget
// of the fastest. Null if no run has an answer.
const CoresReport* best_of(const std::vector<CoresReport>& reports)
{
    std::optional<double> fastest_ms;
    for (const CoresReport& report : reports)
        if (has_number(report))
            fastest_ms = std::min(fastest_ms.value_or(quiet_step_ms(report)), quiet_step_ms(report));
    const CoresReport* best = nullptr;
    for (const CoresReport& report : reports) {
        const double budget = report.json.at("budget_percent").get<double>();
        if (!has_number(report) || quiet_step_ms(report) > *fastest_ms * (1.0 + budget / 100.0)) continue;
        const auto need = [](const CoresReport& one) {
            return std::pair{answer_in(one).at("keep").get<int>(), one.threads};
        };
        if (best == nullptr || need(report) < need(*best)) best = &report;
    }
    return best;
}

void print_answer(const CoresReport& report)
{
    const Json& found = answer_in(report);
    std::cout << found.at("answer").get<std::string>();
    if (const auto advice = found.at("advice").get<std::string>(); !advice.empty()) std::cout << " " << advice;
    if (report.threads > 0) std::cout << " " << threads_variable << "=" << report.threads << ".";
    std::cout << "\n";
}

// Writes the rows of all reports' cores.csv, each preceded by its number of threads.
void write_rows(const fs::path& file, const std::vector<CoresReport>& reports)
{
    std::optional<base::CsvWriter> rows;
    for (const CoresReport& report : reports) {
        const base::CsvTable table{report.run / base::part::report / base::file::cores};
        std::vector<std::string> head{"threads", "quiet_step_ms"};
        head.insert(head.end(), table.columns().begin(), table.columns().end());
        if (!rows) rows.emplace(file, head);
        for (std::size_t row = 0; row < table.rows(); ++row) {
            std::vector<std::string> cells{std::to_string(report.threads), base::fixed(quiet_step_ms(report), 6)};
            for (const std::string& column : table.columns()) cells.push_back(table.text(row, column));
            rows->write(cells);
        }
    }
}

void write_record(const fs::path& file, const std::vector<CoresReport>& reports, const CoresReport* best)
{
    Json json;
    json["format"] = base::format_version;
    json["threads"] = best == nullptr ? Json(nullptr) : Json(best->threads);
    json["keep"] = best == nullptr ? Json(nullptr) : answer_in(*best).at("keep");
    json["runs"] = Json::array();
    for (const CoresReport& report : reports) {
        Json run{{"threads", report.threads}, {"directory", report.run.filename().string()}};
        run.update(report.json);
        json["runs"].push_back(std::move(run));
    }
    base::write_whole(file, json.dump(2) + "\n");
}

int one_run(const Request& request)
{
    const int code = designed_run(request);
    if (const std::optional<CoresReport> report = report_of(request.out, 0)) print_answer(*report);
    return code;
}

// ddl-train sets the variable by an option of its own.
Request with_threads(const Request& request, int count)
{
    Request one = request;
    one.out = one.whole = request.out / base::join("threads-", count);
    one.again.clear();
    if (std::any_of(one.command.begin(), one.command.end(), is_ddl_train))
        one.command.insert(one.command.end(), {"--threads", std::to_string(count)});
    return one;
}

int run_for_each(const Request& request, const std::vector<int>& threads)
{
    std::vector<CoresReport> reports;
    int code = base::exit_fine;
    for (const int count : threads) {
        const Request one = with_threads(request, count);
        base::warn(threads_variable, "=", count, ": ", one.out.string());
        ::setenv(threads_variable, std::to_string(count).c_str(), 1);
        const int of_run = designed_run(one);
        if (code == base::exit_fine) code = of_run;
        std::optional<CoresReport> report = report_of(one.out, count);
        if (!report) break;
        reports.push_back(std::move(*report));
    }
    if (reports.empty()) return code;
    const CoresReport* best = best_of(reports);
    write_rows(request.out / base::file::cores, reports);
    write_record(request.out / base::file::cores_record, reports, best);
    for (const CoresReport& report : reports)
        std::cout << report.threads << (report.threads == 1 ? " thread: " : " threads: ") << "quiet step "
                  << base::fixed(quiet_step_ms(report), 2) << " ms. "
                  << answer_in(report).at("answer").get<std::string>() << "\n";
    if (best != nullptr) print_answer(*best);
    return code;
}

}  // namespace

int show_cores_run(const Request& request, const std::vector<int>& threads)
{
    if (threads.empty()) return show_designed_run(request);
    for (const int count : threads) {
        std::cout << threads_variable << "=" << count << "\n";
        show_designed_run(with_threads(request, count));
    }
    return base::exit_fine;
}

int cores_run(const Request& request, const std::vector<int>& threads)
try {
    const int code = threads.empty() ? one_run(request) : run_for_each(request, threads);
    base::flush_stdout();
    return code;
} catch (const nlohmann::json::exception& error) {
    base::fail(base::file::cores_record, " is invalid: ", error.what());
}

}  // namespace crosstalk
