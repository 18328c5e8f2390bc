// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/harvest.hpp"

#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/saturating.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <tuple>

namespace analysis {

namespace {

// Work of all CPUs in a slot.
struct SlotHarvest {
    double bytes_per_s = 0.0;
    double operations_per_s = 0.0;
};

}  // namespace

Harvests read_harvests(const std::vector<std::filesystem::path>& noise_csvs)
{
    std::map<std::tuple<std::string, std::string, std::int64_t>, SlotHarvest> slots;
    std::map<std::pair<std::string, std::string>, std::string> stressors;
    std::set<std::pair<std::string, std::string>> cpus;
    for (const std::filesystem::path& file : noise_csvs) {
        const base::CsvTable rows{file};
        for (std::size_t row = 0; row < rows.rows(); ++row) {
            cpus.emplace(rows.text(row, "host"), rows.text(row, "cpu"));
            const double length_s =
                static_cast<double>(base::saturated_difference(rows.get<std::int64_t>(row, "end_ns"),
                                                               rows.get<std::int64_t>(row, "begin_ns"))) /
                1e9;
            if (rows.text(row, "role") != "treatment" || length_s <= 0.0) continue;
            const std::string& factor = rows.text(row, "factor");
            const std::string& level = rows.text(row, "level");
            stressors[{factor, level}] = rows.text(row, "stressor");
            SlotHarvest& slot = slots[{factor, level, rows.get<std::int64_t>(row, "slot")}];
            slot.bytes_per_s += static_cast<double>(rows.get<std::int64_t>(row, "bytes")) / length_s;
            slot.operations_per_s += static_cast<double>(rows.get<std::int64_t>(row, "operations")) / length_s;
        }
    }
    Harvests all{{}, cpus.size()};
    for (const auto& [key, slot] : slots) {
        Harvest& harvest = all.levels[{std::get<0>(key), std::get<1>(key)}];
        harvest.bytes = harvest.bytes || slot.bytes_per_s > 0.0;
    }
    for (const auto& [key, slot] : slots) {
        Harvest& harvest = all.levels[{std::get<0>(key), std::get<1>(key)}];
        harvest.per_s.push_back(harvest.bytes ? slot.bytes_per_s : slot.operations_per_s);
    }
    for (auto& [key, harvest] : all.levels) harvest.stressor = stressors[key];
    std::erase_if(all.levels, [](const auto& level) {
        const std::vector<double>& done = level.second.per_s;
        return std::all_of(done.begin(), done.end(), [](double per_s) { return per_s == 0.0; });
    });
    return all;
}

Harvests harvests_of_all(const std::vector<std::vector<Harvests>>& runs)
{
    Harvests all{{}, runs.front().front().cpus};
    for (const auto& [key, first] : runs.front().front().levels) {
        Harvest harvest{first.stressor, first.bytes, {}};
        bool did_all = true;
        for (const std::vector<Harvests>& parts : runs) {
            std::vector<double> of_run;
            for (const Harvests& part : parts) {
                const auto found = part.levels.find(key);
                did_all = did_all && found != part.levels.end() && found->second.bytes == first.bytes;
                if (did_all) of_run.insert(of_run.end(), found->second.per_s.begin(), found->second.per_s.end());
            }
            if (!did_all) break;
            if (runs.size() > 1)
                of_run = {std::accumulate(of_run.begin(), of_run.end(), 0.0) / static_cast<double>(of_run.size())};
            harvest.per_s.insert(harvest.per_s.end(), of_run.begin(), of_run.end());
        }
        if (did_all) all.levels[key] = std::move(harvest);
    }
    return all;
}

std::vector<std::filesystem::path> noise_rows_in(const std::filesystem::path& place)
{
    if (std::filesystem::is_regular_file(place)) return {place};
    std::vector<std::filesystem::path> found;
    for (const std::filesystem::path& folder : {place / base::part::noise, place})
        if (found.empty() && std::filesystem::is_directory(folder))
            for (const std::filesystem::directory_entry& process : std::filesystem::directory_iterator{folder})
                if (std::filesystem::exists(process.path() / base::file::noise_rows))
                    found.push_back(process.path() / base::file::noise_rows);
    if (found.empty()) base::fail("there is no ", base::file::noise_rows, " of a noise process in ", place.string());
    return found;
}

}  // namespace analysis
