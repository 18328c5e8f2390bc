// SPDX-License-Identifier: Apache-2.0
#include "analysis/metrics/metric.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/sections/evidence/evidence_section.hpp"
#include "base/contract/os_table.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <array>

namespace analysis {

namespace {

struct PressureColumn {
    const char* metric;
    const char* cause;
    const char* by;
};

constexpr std::array pressure_columns{
    PressureColumn{"throttled_percent", base::os::cause::throttled, ""},
    PressureColumn{"steal_percent", base::os::cause::steal, ""},
    PressureColumn{"cpu_pressure_percent", base::os::cause::pressure, "cpu some"},
    PressureColumn{"io_pressure_percent", base::os::cause::pressure, "io some"},
    PressureColumn{"memory_pressure_percent", base::os::cause::pressure, "memory some"},
};

using Percentages = std::array<double, pressure_columns.size()>;

std::size_t pressure_column_of(const JobReading& reading)
{
    const auto found = std::find_if(
        pressure_columns.begin(), pressure_columns.end(),
        [&](const PressureColumn& column) { return reading.cause == column.cause && reading.by == column.by; });
    return static_cast<std::size_t>(found - pressure_columns.begin());
}

// By treatment. A reading that spans two slots is divided by time.
std::vector<Percentages> pressure_of(const Report& report)
{
    const std::vector<double> length_ns = lengths_of_treatments(report);
    std::vector<Percentages> ns(length_ns.size(), Percentages{});
    for (const JobReading& reading : report.run.evidence.readings) {
        const std::size_t column = pressure_column_of(reading);
        if (column == pressure_columns.size()) continue;
        const double share = static_cast<double>(reading.ns) / static_cast<double>(reading.end_ns - reading.begin_ns);
        for (const auto& [treatment, inside_ns] : times_by_treatment(report, reading.begin_ns, reading.end_ns))
            ns[treatment][column] += share * inside_ns;
    }
    for (std::size_t t = 0; t < ns.size(); ++t)
        for (double& value : ns[t]) value *= length_ns[t] > 0.0 ? 100.0 / length_ns[t] : 0.0;
    return ns;
}

bool knows_throttled(const Report& report)
{
    return report.run.evidence.throttled_lacks.empty();
}

}  // namespace

std::vector<double> lengths_of_treatments(const Report& report)
{
    const std::vector<Slot>& slots = report.run.slots.front();
    std::vector<double> ns(report.run.plan.treatments.size(), 0.0);
    for (std::size_t s = 0; s < slots.size(); ++s)
        ns[report.run.plan.treatment_of[s]] += static_cast<double>(slots[s].end_ns - slots[s].begin_ns);
    return ns;
}

std::vector<std::pair<std::size_t, double>> times_by_treatment(const Report& report, std::int64_t begin_ns,
                                                               std::int64_t end_ns)
{
    const std::vector<Slot>& slots = report.run.slots.front();
    std::vector<std::pair<std::size_t, double>> times;
    auto slot = std::upper_bound(slots.begin(), slots.end(), begin_ns,
                                 [](std::int64_t at_ns, const Slot& one) { return at_ns < one.end_ns; });
    for (; slot != slots.end() && slot->begin_ns < end_ns; ++slot) {
        const std::int64_t inside_ns = std::min(end_ns, slot->end_ns) - std::max(begin_ns, slot->begin_ns);
        times.emplace_back(report.run.plan.treatment_of[static_cast<std::size_t>(slot - slots.begin())],
                           static_cast<double>(inside_ns));
    }
    return times;
}

void write_pressure(const std::filesystem::path& file, const Report& report)
{
    std::vector<std::string> columns{"treatment"};
    for (const PressureColumn& column : pressure_columns) columns.emplace_back(column.metric);
    base::CsvWriter table{file, columns};
    const std::vector<Percentages> all = pressure_of(report);
    for (std::size_t t = 0; t < all.size(); ++t) {
        std::vector<std::string> cells{report.run.plan.treatments[t].name()};
        for (std::size_t c = 0; c < pressure_columns.size(); ++c)
            cells.push_back(c == 0 && !knows_throttled(report) ? "" : fixed(all[t][c], 4));
        table.write(cells);
    }
}

NoiseTable pressure_table(const Report& report)
{
    NoiseTable table{.title = "Throttling and pressure",
                     .head = {"Noise"},
                     .rows = {},
                     .note =
                         "Percent of the time under each noise, for the whole job. Pressure (PSI) also grows where the "
                         "job's own quota throttles it, and CPU pressure where its own threads wait for each other, so "
                         "pressure alone does not show a neighbour."};
    if (!knows_throttled(report))
        table.note += base::join(" Throttled time is not known: ", report.run.evidence.throttled_lacks, ".");
    for (const PressureColumn& column : pressure_columns) table.head.push_back(metric_named(column.metric).title);
    const std::vector<Percentages> all = pressure_of(report);
    for (std::size_t t = 0; t < all.size(); ++t) {
        NoiseTable::Row row = row_of(report.run.plan.treatments[t]);
        for (std::size_t c = 0; c < pressure_columns.size(); ++c) {
            const bool known = c != 0 || knows_throttled(report);
            const bool zero = all[t][c] < 0.005;
            row.cells.push_back({.value = !known ? "–" : zero ? "0" : fixed(all[t][c], 2), .half = "", .zero = zero});
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace analysis
