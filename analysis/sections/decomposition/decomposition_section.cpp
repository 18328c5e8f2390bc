// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/decomposition/decomposition_section.hpp"

#include "analysis/results/numbers.hpp"
#include "base/contract/factor_name.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace analysis {

namespace {

// The resource and its evidence; empty if it is unknown.
std::string resource_text(const Decomposition& found)
{
    if (found.evidence.empty()) return "";
    const std::string name = text(found.resource);
    return (name.empty() ? "" : name + ", ") + found.evidence;
}

using All = std::vector<NamedDecomposition>;

bool name_runs(const All& all)
{
    return std::any_of(all.begin(), all.end(), [](const NamedDecomposition& one) { return !one.run.empty(); });
}

// Writes a table: columns for the noise, these columns, and, with several runs, a column for the run.
class Rows {
 public:
    Rows(const std::filesystem::path& file, const All& all, std::vector<std::string> columns)
        : with_run_{name_runs(all)}, table_{file, with_ends(std::move(columns))}
    {
    }

    template <class... Cells>
    void row(const NamedDecomposition& of, const Cells&... cells)
    {
        if (with_run_)
            table_.row(of.factor, of.level, of.kind, cells..., of.run);
        else
            table_.row(of.factor, of.level, of.kind, cells...);
    }

 private:
    std::vector<std::string> with_ends(std::vector<std::string> columns) const
    {
        columns.insert(columns.begin(), {"factor", "level", "kind"});
        if (with_run_) columns.emplace_back("run");
        return columns;
    }

    bool with_run_;
    base::CsvWriter table_;
};

void write_changes(const std::filesystem::path& file, const char* what, const All& all,
                   std::vector<Change> Decomposition::*changes)
{
    Rows table{file, all, {"rank", what, "effect_percent", "low_percent", "high_percent"}};
    for (const NamedDecomposition& one : all)
        for (const Change& change : one.of.*changes)
            if (change.name == unexplained)  // the unexplained part has no interval
                table.row(one, change.rank, change.name, change.percent, "", "");
            else
                table.row(one, change.rank, change.name, change.percent, change.interval.low, change.interval.high);
}

void write_parts(const std::filesystem::path& file, const All& all)
{
    write_changes(file, "part", all, &Decomposition::parts);
}

void write_rank_parts(const std::filesystem::path& file, const All& all)
{
    write_changes(file, "part", all, &Decomposition::of_ranks);
}

void write_own_work(const std::filesystem::path& file, const All& all)
{
    write_changes(file, "region", all, &Decomposition::own);
}

void write_causes(const std::filesystem::path& file, const All& all)
{
    Rows causes{file,
                all,
                {"effect_percent", "critical_rank", "region", "region_percent", "waiting_rank", "waiting_percent",
                 "largest_part", "resource", "by_design", "evidence"}};
    for (const NamedDecomposition& one : all) {
        const Decomposition& of = one.of;
        causes.row(one, of.step_percent, of.critical_rank ? std::to_string(*of.critical_rank) : "", of.region,
                   of.region_percent, of.waits ? std::to_string(of.waits->rank) : "",
                   of.waits ? of.waits->percent : 0.0, largest_part(of), text(of.resource), of.by_design ? 1 : 0,
                   of.evidence);
    }
}

NoiseTable::Cell cell(const Change& change)
{
    const bool strong = change.interval.low > 0.0 || change.interval.high < 0.0;
    const bool has_interval = change.interval.low != change.interval.high;
    return {fixed(change.percent, 2), has_interval ? fixed(change.interval.half_width(), 2) : "",
            has_interval && strong, false};
}

}  // namespace

std::vector<NamedDecomposition> decompositions(const Report& report)
{
    std::vector<NamedDecomposition> all;
    for (const Effect* effect : judged_effects(report.analysis))
        if (auto found = decomposition_of(report.analysis.effects, *effect, report.verdict.confidence))
            all.push_back({effect->factor, effect->level, text(effect->kind), std::move(*found)});
    return all;
}

const std::array<DecompositionTable, decomposition_table_count>& decomposition_tables()
{
    static constexpr std::array<DecompositionTable, decomposition_table_count> tables{{
        {"decomposition.csv", write_parts},
        {"rank_parts.csv", write_rank_parts},
        {"own_work.csv", write_own_work},
        {"causes.csv", write_causes},
    }};
    return tables;
}

NoiseTable table_of(const std::vector<NamedDecomposition>& all)
{
    NoiseTable table{.title = "What the slowdown is made of", .head = {"Noise"}, .rows = {}, .note = {}};
    if (all.empty()) return table;
    for (const Change& part : all.front().of.parts) table.head.push_back(part.name);
    table.head.insert(table.head.end(), {"rank", "where", "who waits for it", "resource"});
    for (const NamedDecomposition& one : all) {
        NoiseTable::Row row{one.factor, one.level, "", {}};
        for (const Change& part : one.of.parts) row.cells.push_back(cell(part));
        row.cells.push_back({one.of.critical_rank ? base::join("rank ", *one.of.critical_rank) : "", ""});
        row.cells.push_back({one.of.region, ""});
        row.cells.push_back({one.of.waits ? base::join("rank ", one.of.waits->rank) : "", ""});
        row.cells.push_back({text(one.of.resource), ""});
        table.rows.push_back(std::move(row));
    }
    table.note =
        "Increases of the parts of the critical rank's step; with what is unexplained they add up to the slowdown. "
        "Transfer: the shortest time of any rank in the same exchange. Waiting: the rest of this rank's time in it. "
        "The parts of all ranks are in rank_parts.csv and own_work.csv.";
    return table;
}

nlohmann::ordered_json json_of(const Decomposition& found)
{
    nlohmann::ordered_json json;
    json["critical_rank"] = found.critical_rank ? nlohmann::ordered_json(*found.critical_rank) : nullptr;
    json["region"] = found.region;
    json["region_percent"] = found.region_percent;
    json["waiting_rank"] = found.waits ? nlohmann::ordered_json(found.waits->rank) : nullptr;
    json["waiting_percent"] = found.waits ? found.waits->percent : 0.0;
    for (const Change& part : found.parts) json["parts_percent"][part.name] = part.percent;
    json["resource"] = text(found.resource);
    json["by_design"] = found.by_design;
    json["evidence"] = found.evidence;
    return json;
}

std::vector<std::string> lines_of(const NamedDecomposition& one)
{
    std::vector<std::string> parts;
    for (const Change& part : one.of.parts) parts.push_back(part.name + " " + signed_percent(part.percent));
    std::vector<std::string> lines{base::join(base::factor_name(one.factor, one.level), " ",
                                              signed_percent(one.of.step_percent), ": ",
                                              base::join_words(parts, ", "))};
    if (const std::string why = reading(one.of); !why.empty()) lines.push_back("  " + why);
    return lines;
}

std::string reading(const Decomposition& found)
{
    const std::string who = sentence(found);
    const std::string resource = resource_text(found);
    return who + (who.empty() || resource.empty() ? "" : "; ") + resource;
}

namespace {

template <std::size_t which>
void write_decomposition(const std::filesystem::path& file, const Report& report)
{
    decomposition_tables()[which].write(file, decompositions(report));
}

std::vector<NoiseTable> decomposition_tables_of(const Report& report)
{
    const std::vector<NamedDecomposition> all = decompositions(report);
    if (all.empty()) return {};
    return {table_of(all)};
}

std::vector<std::string> decomposition_lines(const Report& report)
{
    std::vector<std::string> lines;
    for (const FactorVerdict& factor : report.verdict.factors)
        if (factor.cause.made_of)
            for (std::string& line : lines_of({factor.factor, factor.level, text(factor.kind), *factor.cause.made_of}))
                lines.push_back(std::move(line));
    return lines;
}

}  // namespace

namespace section {

extern const Section decomposition{
    .tables = [](const Report&) -> std::vector<Table> {
        return {{decomposition_tables()[0].file, write_decomposition<0>},
                {decomposition_tables()[1].file, write_decomposition<1>},
                {decomposition_tables()[2].file, write_decomposition<2>},
                {decomposition_tables()[3].file, write_decomposition<3>}};
    },
    .detail = decomposition_tables_of,
    .terminal = decomposition_lines,
};

}  // namespace section

}  // namespace analysis
