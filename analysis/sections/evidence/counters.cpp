// SPDX-License-Identifier: Apache-2.0
#include "analysis/metrics/metric.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/sections/evidence/evidence_section.hpp"
#include "base/contract/os_table.hpp"
#include "base/csv.hpp"
#include "base/figures.hpp"

#include <array>
#include <map>
#include <optional>

namespace analysis {

namespace {

// The divisor of a counter.
enum class Per { cycle, second, reading, reading_of_each };

struct CounterColumn {
    const char* metric;
    const char* cause;
    Per per;
    std::string (*shown)(double);
};

std::string with_two_digits(double number)
{
    return fixed(number, 2);
}

std::string as_whole_number(double number)
{
    return fixed(number, 0);
}

std::string as_bytes(double number)
{
    return base::bytes_text(number);
}

constexpr std::array counter_columns{
    CounterColumn{"instructions_per_cycle", base::os::cause::instructions, Per::cycle, with_two_digits},
    CounterColumn{"llc_misses_per_s", base::os::cause::llc_misses, Per::second, as_whole_number},
    CounterColumn{"migrations_per_s", base::os::cause::migrations, Per::second, with_two_digits},
    CounterColumn{"bandwidth_bytes_per_s", base::os::cause::bandwidth, Per::second, as_bytes},
    CounterColumn{"llc_occupancy_bytes", base::os::cause::llc_occupancy, Per::reading, as_bytes},
    CounterColumn{"clock_khz", base::os::cause::frequency, Per::reading_of_each, as_whole_number},
};

// Sums over a counter's readings under one treatment. A reading that spans two slots is divided by time.
struct Counts {
    double grown = 0.0;            // by how much the counter grew
    double read_ns = 0.0;          // sum of readings, each times its length
    double read_of_each_ns = 0.0;  // sum of the readings' means over CPUs, each times its length
    double ns = 0.0;               // sum of the readings' lengths
};
using CountsByCause = std::map<std::string, Counts>;

std::vector<CountsByCause> sums_by_treatment(const Report& report)
{
    std::vector<CountsByCause> all(report.run.plan.treatments.size());
    for (const CounterReading& reading : report.run.evidence.counters) {
        const double length_ns = static_cast<double>(reading.end_ns - reading.begin_ns);
        for (const auto& [treatment, inside_ns] : times_by_treatment(report, reading.begin_ns, reading.end_ns)) {
            Counts& sums = all[treatment][reading.cause];
            sums.grown += reading.sum * inside_ns / length_ns;
            sums.read_ns += reading.sum * inside_ns;
            sums.read_of_each_ns += reading.sum / reading.of * inside_ns;
            sums.ns += inside_ns;
        }
    }
    return all;
}

std::optional<double> value_of(const CounterColumn& column, CountsByCause& sums, double length_ns)
{
    if (!sums.contains(column.cause)) return std::nullopt;
    const Counts& own = sums[column.cause];
    const double cycles = sums[base::os::cause::cycles].grown;
    switch (column.per) {
        case Per::cycle:
            return cycles > 0.0 ? std::optional{own.grown / cycles} : std::nullopt;
        case Per::second:
            return own.grown / (length_ns / 1e9);
        case Per::reading:
            return own.read_ns / own.ns;
        case Per::reading_of_each:
            return own.read_of_each_ns / own.ns;
    }
    return std::nullopt;
}

using CounterValues = std::array<std::optional<double>, counter_columns.size()>;

// By treatment. A counter that was recorded, but did not grow under a treatment, is 0 there.
std::vector<CounterValues> counters_of(const Report& report)
{
    const std::vector<double> length_ns = lengths_of_treatments(report);
    std::vector<CountsByCause> sums = sums_by_treatment(report);
    std::vector<CounterValues> all(sums.size());
    for (std::size_t c = 0; c < counter_columns.size(); ++c) {
        bool known = false;
        for (std::size_t t = 0; t < sums.size(); ++t) {
            all[t][c] = value_of(counter_columns[c], sums[t], length_ns[t]);
            known = known || all[t][c].has_value();
        }
        if (!known || counter_columns[c].per != Per::second) continue;
        for (CounterValues& values : all) values[c] = values[c].value_or(0.0);
    }
    return all;
}

}  // namespace

void write_counters(const std::filesystem::path& file, const Report& report)
{
    std::vector<std::string> columns{"treatment"};
    for (const CounterColumn& column : counter_columns) columns.emplace_back(column.metric);
    base::CsvWriter table{file, columns};
    const std::vector<CounterValues> all = counters_of(report);
    for (std::size_t t = 0; t < all.size(); ++t) {
        std::vector<std::string> cells{report.run.plan.treatments[t].name()};
        for (const std::optional<double>& value : all[t]) cells.push_back(value ? fixed(*value, 4) : "");
        table.write(cells);
    }
}

NoiseTable counters_table(const Report& report)
{
    NoiseTable table{
        .title = "Counters of the processor",
        .head = {"Noise"},
        .rows = {},
        .note =
            "What the counters that this machine has show under each noise, as a hint to why execution is "
            "slower. Instructions, misses and migrations are those of the job's threads; bandwidth and occupancy "
            "are those of all tasks in resctrl's root group."};
    const std::vector<CounterValues> all = counters_of(report);
    const auto known = [&](std::size_t column) {
        for (const CounterValues& values : all)
            if (values[column]) return true;
        return false;
    };
    for (std::size_t c = 0; c < counter_columns.size(); ++c)
        if (known(c)) table.head.push_back(metric_named(counter_columns[c].metric).title);
    for (std::size_t t = 0; t < all.size(); ++t) {
        NoiseTable::Row row = row_of(report.run.plan.treatments[t]);
        for (std::size_t c = 0; c < counter_columns.size(); ++c)
            if (known(c)) row.cells.push_back({all[t][c] ? counter_columns[c].shown(*all[t][c]) : "–", ""});
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace analysis
