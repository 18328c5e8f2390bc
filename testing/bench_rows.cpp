// SPDX-License-Identifier: Apache-2.0
#include "testing/bench_rows.hpp"

#include "base/system/environment.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <utility>

namespace testing {

namespace {

const std::vector<std::string> columns{"date",     "machine", "load",  "benchmark", "run",  "case",    "beside",
                                       "quantity", "unit",    "value", "low",       "high", "versions"};

// Formats with four significant digits.
std::string digits(double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%#.4g", value);
    std::string shortened{text.data()};
    if (shortened.ends_with('.')) shortened.pop_back();
    return shortened;
}

std::string from_environment(const char* name)
{
    return base::environment(name).value_or("");
}

std::string today()
{
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 16> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
    return text.data();
}

std::string next_run(const std::filesystem::path& file, const std::string& benchmark)
{
    if (!std::filesystem::exists(file)) return "1";
    const base::CsvTable rows{file};
    int last = 0;
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (rows.text(row, "benchmark") == benchmark) last = std::max(last, rows.get<int>(row, "run"));
    return std::to_string(last + 1);
}

}  // namespace

BenchRows::BenchRows(std::string benchmark) : benchmark_{std::move(benchmark)}
{
    const std::filesystem::path file = from_environment("CROSSTALK_BENCH_CSV");
    if (file.empty()) return;
    run_ = next_run(file, benchmark_);
    const bool there = std::filesystem::exists(file);
    file_.emplace(file, columns, there ? base::CsvWriter::Appear::more_rows : base::CsvWriter::Appear::rows);
}

void BenchRows::add(const Case& of, const Paired& found, const std::optional<Aim>& aim)
{
    std::cout << of.name << ": " << found.first.text() << " " << of.unit << "; " << of.beside << ": "
              << found.second.text() << " " << of.unit << "; ratio " << found.ratio.text();
    row(of, "ours", of.unit, found.first);
    row(of, "beside", of.unit, found.second);
    row(of, "ratio", "", found.ratio);
    row(of, "pairs", "", std::to_string(found.ratio.samples));
    end(of, "", aim);
}

void BenchRows::add(const Case& of, const Median& found, const std::optional<Aim>& aim)
{
    std::cout << of.name << ": " << found.text() << " " << of.unit;
    row(of, "found", of.unit, found);
    row(of, "pairs", "", std::to_string(found.samples));
    end(of, of.unit, aim);
}

void BenchRows::add(const Case& of, double found, const std::optional<Aim>& aim)
{
    std::cout << of.name << ": " << digits(found) << " " << of.unit;
    row(of, "found", of.unit, digits(found));
    end(of, of.unit, aim);
}

void BenchRows::end(const Case& of, const std::string& unit, const std::optional<Aim>& aim)
{
    if (aim) {
        row(of, aim->kind, unit, digits(aim->bound));
        std::cout << " (" << aim->kind << " " << aim->bound << ")";
    }
    std::cout << std::endl;
}

void BenchRows::row(const Case& of, const std::string& quantity, const std::string& unit, const Median& found)
{
    row(of, quantity, unit, digits(found.value), digits(found.low), digits(found.high));
}

void BenchRows::row(const Case& of, const std::string& quantity, const std::string& unit, const std::string& value,
                    const std::string& low, const std::string& high)
{
    if (file_)
        file_->write({today(), from_environment("CROSSTALK_BENCH_MACHINE"), from_environment("CROSSTALK_BENCH_LOAD"),
                      benchmark_, run_, of.name, of.beside, quantity, unit, value, low, high,
                      from_environment("CROSSTALK_BENCH_VERSIONS")});
}

}  // namespace testing
