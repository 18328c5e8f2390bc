// SPDX-License-Identifier: Apache-2.0
// The cost of checkpoints as tables and JSON for programs.
#include "analysis/checkpoints/write.hpp"
#include "base/contract/run_record.hpp"
#include "base/contract/table_columns.hpp"
#include "base/csv.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <optional>

namespace analysis {

namespace {

using Json = nlohmann::ordered_json;

// A number of a table and of JSON; none is an empty cell and null.
struct NamedNumber {
    const char* name;
    std::optional<double> value;
};

void add_mean(std::vector<NamedNumber>& numbers, const std::array<const char*, 3>& names,
              const std::optional<Mean>& mean)
{
    const std::optional<Interval> interval = mean ? interval_of(*mean) : std::nullopt;
    numbers.push_back({names[0], mean ? std::optional{mean->value} : std::nullopt});
    numbers.push_back({names[1], interval ? std::optional{interval->low} : std::nullopt});
    numbers.push_back({names[2], interval ? std::optional{interval->high} : std::nullopt});
}

// The numbers of a group after its setting, noise and number of saves.
std::vector<NamedNumber> numbers_of(const CheckpointGroup& group)
{
    std::vector<NamedNumber> numbers;
    add_mean(numbers, {"stall_s", "stall_low_s", "stall_high_s"}, group.stall_s);
    numbers.insert(numbers.end(), {{"copy_s", group.copy_s},
                                   {"write_s", group.write_s},
                                   {"sync_s", group.sync_s},
                                   {"bytes", group.bytes},
                                   {"bytes_per_s", group.bytes_per_s},
                                   {"bytes_per_parameter", group.bytes_per_parameter},
                                   {"time_percent", group.time_percent},
                                   {"epoch_percent", group.epoch_percent},
                                   {"pairs", static_cast<double>(group.pairs)}});
    add_mean(numbers, {"between_percent", "between_low_percent", "between_high_percent"}, group.between_percent);
    add_mean(numbers, {"between_s", "between_low_s", "between_high_s"}, group.between_s);
    add_mean(numbers, {"cost_s", "cost_low_s", "cost_high_s"}, group.cost_s);
    const auto low = group.daly_interval ? std::optional{group.daly_interval->low} : std::nullopt;
    const auto high = group.daly_interval ? std::optional{group.daly_interval->high} : std::nullopt;
    const LostShares lost = group.daly_s ? lost_shares(*group.daly_s, group.costs) : LostShares{};
    const auto share = [&](double LostShares::*part) {
        return group.daly_s ? std::optional{100.0 * lost.*part} : std::nullopt;
    };
    numbers.insert(numbers.end(), {{"mtbf_s", group.costs.mtbf_s},
                                   {"restart_s", group.costs.restart_s},
                                   {"young_s", group.young_s},
                                   {"daly_s", group.daly_s},
                                   {"daly_low_s", low},
                                   {"daly_high_s", high},
                                   {"checkpoints_percent", share(&LostShares::checkpoints)},
                                   {"rework_percent", share(&LostShares::rework)},
                                   {"restarts_percent", share(&LostShares::restarts)},
                                   {"budget_s", group.budget_s}});
    return numbers;
}

const char* between_by(const CheckpointGroup& group)
{
    return group.by_design ? "design" : group.between_s ? "pairs" : "";
}

void write_groups(const std::filesystem::path& file, const CheckpointReport& report)
{
    std::vector<std::string> columns{"format", "content", "by", "mode", "fsync", "ranks", "noise", "saves"};
    for (const NamedNumber& number : numbers_of(report.groups.front())) columns.emplace_back(number.name);
    columns.insert(columns.end(), {"between_by", "restart_by", "model", "compress"});
    base::CsvWriter table{file, columns, base::CsvWriter::Appear::whole};
    for (const CheckpointGroup& group : report.groups) {
        const CheckpointSetting& setting = group.setting;
        std::vector<std::string> row{setting.format,
                                     setting.content,
                                     setting.by,
                                     setting.mode,
                                     setting.fsync ? "yes" : "no",
                                     base::cell_of(setting.ranks),
                                     group.noise.name,
                                     base::cell_of(group.saves)};
        for (const NamedNumber& number : numbers_of(group)) row.push_back(base::cell_of(number.value));
        row.insert(row.end(), {between_by(group), group.restart_by, setting.model, setting.compress});
        table.write(row);
    }
    table.finish();
}

void write_saves(const std::filesystem::path& file, const CheckpointReport& report)
{
    base::CsvWriter table{file,
                          {"run",          "step",      "format",       "content",   "by",       "mode",   "fsync",
                           "ranks",        "noise",     "stall_s",      "copy_s",    "write_s",  "sync_s", "bytes",
                           "steps_during", "during_ms", "steps_beside", "beside_ms", "left_out", "model",  "compress"},
                          base::CsvWriter::Appear::whole};
    auto pair = report.pairs.begin();  // in the order of saves
    for (std::size_t r = 0; r < report.runs.size(); ++r)
        for (std::size_t s = 0; s < report.runs[r].saves.size(); ++s) {
            const Save& save = report.runs[r].saves[s];
            const bool has_pair = pair != report.pairs.end() && pair->run == r && pair->save == s;
            const SaveAndSteps none{.left_out = "sync"};
            const SaveAndSteps& steps = has_pair ? *pair++ : none;
            const bool compared = steps.left_out.empty();
            const auto mean_ms = [&](double ms) { return base::cell_of(compared ? std::optional{ms} : std::nullopt); };
            table.row(report.runs[r].name, save.number, save.setting.format, save.setting.content, save.setting.by,
                      save.setting.mode, save.setting.fsync ? "yes" : "no", save.setting.ranks, save.noise.name,
                      save.stall_s, save.copy_s, save.write_s, save.sync_s, save.bytes, steps.during,
                      mean_ms(steps.during_ms), steps.beside, mean_ms(steps.beside_ms), steps.left_out,
                      save.setting.model, save.setting.compress);
        }
    table.finish();
}

std::vector<NamedNumber> numbers_of(const RestartGroup& group)
{
    std::vector<NamedNumber> numbers;
    add_mean(numbers, {"restart_s", "restart_low_s", "restart_high_s"}, group.s);
    numbers.insert(numbers.end(), {{"verify_s", group.verify_s}, {"read_s", group.read_s}, {"bytes", group.bytes}});
    return numbers;
}

void write_restarts(const std::filesystem::path& file, const std::vector<RestartGroup>& groups)
{
    std::vector<std::string> columns{"format", "content", "by", "ranks", "noise", "model", "restarts"};
    for (const NamedNumber& number : numbers_of(RestartGroup{})) columns.emplace_back(number.name);
    columns.emplace_back("compress");
    base::CsvWriter table{file, columns, base::CsvWriter::Appear::whole};
    for (const RestartGroup& group : groups) {
        const CheckpointSetting& setting = group.setting;
        std::vector<std::string> row{setting.format,
                                     setting.content,
                                     setting.by,
                                     base::cell_of(setting.ranks),
                                     group.noise.name,
                                     setting.model,
                                     base::cell_of(group.restarts)};
        for (const NamedNumber& number : numbers_of(group)) row.push_back(base::cell_of(number.value));
        row.push_back(setting.compress);
        table.write(row);
    }
    table.finish();
}

}  // namespace

Json json_of(const CheckpointReport& report)
{
    const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
    Json json{{"format", base::format_version},
              {"answer", answer_of(report)},
              {"mtbf_s", report.question.mtbf_s},
              {"restart_s", or_null(report.question.restart_s)},
              {"budget_percent", or_null(report.question.budget_percent)},
              {"groups", Json::array()},
              {"notes", notes_of(report)},
              {"restarts", Json::array()}};
    for (const CheckpointGroup& group : report.groups) {
        const CheckpointSetting& setting = group.setting;
        Json& one = json["groups"].emplace_back(Json{{"checkpoint_format", setting.format},
                                                     {"content", setting.content},
                                                     {"by", setting.by},
                                                     {"mode", setting.mode},
                                                     {"fsync", setting.fsync},
                                                     {"ranks", setting.ranks},
                                                     {"noise", group.noise.name},
                                                     {"saves", group.saves}});
        for (const NamedNumber& number : numbers_of(group)) one[number.name] = or_null(number.value);
        one["between_by"] = between_by(group);
        one["restart_by"] = group.restart_by;
        one["model"] = setting.model;
        one["compress"] = setting.compress;
        one["curve"] = Json::array();
        for (const CostCurvePoint& point : cost_curve(group))
            one["curve"].push_back({{"interval_s", point.interval_s}, {"lost_percent", 100.0 * point.lost.total()}});
    }
    for (const RestartGroup& group : report.restarts) {
        const CheckpointSetting& setting = group.setting;
        Json& one = json["restarts"].emplace_back(Json{{"checkpoint_format", setting.format},
                                                       {"content", setting.content},
                                                       {"by", setting.by},
                                                       {"ranks", setting.ranks},
                                                       {"noise", group.noise.name},
                                                       {"model", setting.model},
                                                       {"restarts", group.restarts}});
        for (const NamedNumber& number : numbers_of(group)) one[number.name] = or_null(number.value);
        one["compress"] = setting.compress;
    }
    return json;
}

void write_tables(const std::filesystem::path& folder, const CheckpointReport& report)
{
    write_groups(folder / "groups.csv", report);
    write_saves(folder / "saves.csv", report);
    write_restarts(folder / "restart_times.csv", report.restarts);
}

}  // namespace analysis
