// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/run_so_far.hpp"

#include "base/contract/phases.hpp"
#include "base/contract/roles.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/trace_names.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace analysis {

namespace fs = std::filesystem;

namespace {

constexpr int first_rank = 0;

StepTable read_steps(const fs::path& file)
{
    StepTable steps;
    RankSteps rank;
    std::vector<double> phase_ms;
    base::read_rows(file, [&](const base::CsvRow& row) {
        if (row.get<std::int64_t>("rank") != first_rank) return;
        if (steps.numbers.empty()) {
            for (const base::TrainingPhase phase :
                 {base::TrainingPhase::control_settle, base::TrainingPhase::control_delay})
                if (row.has(base::text(phase) + std::string{"_ns"})) steps.phases.emplace_back(base::text(phase));
            phase_ms.resize(steps.phases.size());
        }
        steps.numbers.push_back(row.get<std::int64_t>("step"));
        rank.begin_ns.push_back(row.get<std::int64_t>("begin_ns"));
        rank.end_ns.push_back(row.get<std::int64_t>("end_ns"));
        for (std::size_t p = 0; p < phase_ms.size(); ++p)
            phase_ms[p] = static_cast<double>(row.get<std::int64_t>(steps.phases[p] + "_ns")) / 1e6;
        rank.phase_ms.append_row(phase_ms);
    });
    steps.ranks.push_back(std::move(rank));
    return steps;
}

// Host of the training's first rank; empty if not recorded yet. The record is written after the first step, and not by
// every program.
std::string host_of(const fs::path& train)
{
    const fs::path record = train / base::file::run_record;
    return fs::exists(record) ? base::read_json(record).value("host", std::string{}) : "";
}

// Directory of the noise process on `host` (any host if empty); none if noise has not begun.
std::optional<fs::path> noise_part(const fs::path& noise, const std::string& host)
{
    std::vector<fs::path> parts;
    if (fs::is_directory(noise))
        for (const fs::directory_entry& part : fs::directory_iterator{noise})
            if ((host.empty() || part.path().filename().string().starts_with(host + ".")) &&
                fs::exists(part.path() / base::file::noise_rows))
                parts.push_back(part.path());
    if (parts.empty()) return std::nullopt;
    return *std::min_element(parts.begin(), parts.end());
}

// Reads the pauses; empty if control.pause stopped nothing.
std::vector<TimeSpan> read_pauses(const fs::path& file)
{
    std::vector<TimeSpan> pauses;
    if (fs::exists(file))
        base::read_rows(file, [&](const base::CsvRow& row) {
            pauses.push_back({row.get<std::int64_t>("begin_ns"), row.get<std::int64_t>("end_ns")});
        });
    return merged(std::move(pauses));
}

// The rows of a slot, one for each CPU of the noise.
struct Rows {
    Slot slot;
    std::size_t count = 0;
};

std::map<std::int64_t, Rows> read_rows(const fs::path& file)
{
    const base::CsvTable table{file};
    std::map<std::int64_t, Rows> slots;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto begin_ns = table.get<std::int64_t>(row, "begin_ns");
        const auto end_ns = table.get<std::int64_t>(row, "end_ns");
        Rows& rows = slots[table.get<std::int64_t>(row, "slot")];
        Slot& slot = rows.slot;
        slot.begin_ns = rows.count == 0 ? begin_ns : std::min(slot.begin_ns, begin_ns);
        slot.end_ns = rows.count == 0 ? end_ns : std::max(slot.end_ns, end_ns);
        slot.block = table.get<std::int64_t>(row, "block");
        slot.position = table.get<std::int64_t>(row, "position");
        ++rows.count;
        if (table.text(row, "factor") == base::region::quiet) continue;
        const Assigned on{table.text(row, "factor"), table.text(row, "level"), table.text(row, "stressor"),
                          base::parse_role(table.text(row, "role"))};
        if (std::find(slot.on.begin(), slot.on.end(), on) == slot.on.end()) slot.on.push_back(on);
    }
    return slots;
}

// The slots that are over on all CPUs. Each lasts until the next one begins: by assigned times where slots have one
// length, else by real times.
std::vector<Slot> whole_slots(const std::map<std::int64_t, Rows>& all, const nlohmann::ordered_json& record)
{
    std::size_t cpus = 0;
    for (const auto& [number, rows] : all) cpus = std::max(cpus, rows.count);
    const std::int64_t slot_ns = record.value("slot_ns", std::int64_t{0});
    const auto start_ns = record.at("begin_ns").get<std::int64_t>();
    std::vector<Slot> slots;
    for (const auto& [number, rows] : all) {
        if (rows.count < cpus) continue;
        Slot slot = rows.slot;
        std::sort(slot.on.begin(), slot.on.end(),
                  [](const Assigned& a, const Assigned& b) { return a.factor < b.factor; });
        if (slot_ns > 0) {
            slot.begin_ns = start_ns + number * slot_ns;
            slot.end_ns = slot.begin_ns + slot_ns;
        } else if (!slots.empty()) {
            slots.back().end_ns = slot.begin_ns;
        }
        slots.push_back(std::move(slot));
    }
    return slots;
}

}  // namespace

RunSoFar read_so_far(const fs::path& directory)
try {
    RunSoFar so_far;
    const fs::path train = directory / base::part::train;
    if (!fs::exists(train / base::file::steps)) return so_far;
    so_far.steps = read_steps(train / base::file::steps);
    measure_cycles(so_far.steps);
    const std::optional<fs::path> noise = noise_part(directory / base::part::noise, host_of(train));
    if (!noise || !fs::exists(*noise / base::file::noise_record)) return so_far;
    const nlohmann::ordered_json record = base::read_json(*noise / base::file::noise_record);
    so_far.design = parse_design(record.at("design"));
    so_far.slots = whole_slots(read_rows(*noise / base::file::noise_rows), record);
    so_far.stopped = read_pauses(*noise / base::file::pauses);
    return so_far;
} catch (const nlohmann::json::exception& error) {
    base::fail("a record of ", directory.string(), " is invalid: ", error.what());
}

}  // namespace analysis
