// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/harvest/harvest_section.hpp"

#include "analysis/conclude/advice.hpp"
#include "analysis/results/node_placement.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/record.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace analysis {

namespace {

using base::join;

// Numbers of CPUs of all nodes together; 0 if not recorded.
struct CpusOfNodes {
    double online = 0.0;
    double idle = 0.0;  // CPUs that the training does not use
    double noise = 0.0;
};

struct Done {
    std::vector<Harvested> harvest;
    std::optional<Harvests> beside;  // harvest during the training, from which `harvest` is computed
    std::optional<Harvests> alone;   // harvest on an empty node
    CpusOfNodes cpus;                // of the first run, if there are several
    double node_hour_cost = 0.0;     // 0: not given
};

const Done& done_in(const Report& report)
{
    return report.kept.of<Done>();
}

CpusOfNodes cpus_of_nodes(const Report& report)
{
    CpusOfNodes sum;
    for (const NodePlaces& node : node_places(report)) {
        if (node.online < node.training.size()) return {};
        sum.online += static_cast<double>(node.online);
        sum.idle += static_cast<double>(node.online - node.training.size());
        sum.noise += static_cast<double>(node.noise.size());
    }
    return sum;
}

// Change of the training's speed in percent, from the slowdown of its steps.
double speed_percent(double slowdown_percent)
{
    return -100.0 * slowdown_percent / (100.0 + slowdown_percent);
}

// Loss and gain, as shares of the price of a node hour.
struct Worth {
    double training_loses = 0.0;
    std::optional<double> neighbour_gets;
};

std::optional<Worth> worth_of(const Report& report, const Harvested& done)
{
    const FactorVerdict* factor = report.verdict.of(done.factor, done.level);
    if (done_in(report).node_hour_cost <= 0.0 || factor == nullptr) return std::nullopt;
    Worth worth{-done_in(report).node_hour_cost * speed_percent(factor->percent.value) / 100.0, {}};
    const CpusOfNodes& cpus = done_in(report).cpus;
    if (done.of_empty_node && cpus.online > 0.0)
        worth.neighbour_gets =
            done_in(report).node_hour_cost * done.of_empty_node->percent / 100.0 * cpus.noise / cpus.online;
    return worth;
}

// Formats a share with whole numbers where they are precise enough: "87 % (85 to 89 %)", "0.35 % (0.33 to 0.37 %)".
std::string share_text(const Share& share)
{
    constexpr double small = 10.0;
    if (share.percent < small) return join(percent(share.percent), " (", range(share.interval), ")");
    return join(std::lround(share.percent), " % (", std::lround(share.interval.low), " to ",
                std::lround(share.interval.high), " %)");
}

// "118 trials/h, " for a factor labelled trials; empty for work that is counted in bytes, or many times a second.
std::string in_an_hour(const Harvested& done)
{
    constexpr double slow = 10.0;
    constexpr double hour_s = 3600.0;
    if (done.bytes || done.per_s > slow) return "";
    return join(std::lround(done.per_s * hour_s), " ", done.factor == done.stressor ? "operations" : done.factor,
                "/h, ");
}

std::string harvest_sentence(const Report& report, const Harvested& done)
{
    const FactorVerdict* factor = report.verdict.of(done.factor, done.level);
    if (factor == nullptr || !done.of_empty_node) return "";
    const Interval speed{speed_percent(factor->interval.high), speed_percent(factor->interval.low)};
    std::string text = join(base::factor_name(done.factor, done.level), ": training ",
                            signed_percent(speed_percent(factor->percent.value)), " (", range(speed), "), neighbour ",
                            in_an_hour(done), share_text(*done.of_empty_node), " of its speed on an empty node");
    const CpusOfNodes& cpus = done_in(report).cpus;
    if (cpus.idle > 0.0) text += join(", ", cpus.noise, " of ", cpus.idle, " idle core hours used");
    if (const std::optional<Worth> worth = worth_of(report, done)) {
        text += join("; of a node hour at ", done_in(report).node_hour_cost, " the training loses ",
                     fixed(worth->training_loses, 3));
        if (worth->neighbour_gets) text += join(", the neighbour gets ", fixed(*worth->neighbour_gets, 3));
    }
    return text + ".";
}

std::string setting_sentence(const Report& report, const Harvested& done)
{
    const std::optional<std::string> setting = tried_setting(done.level);
    const FactorVerdict* factor = report.verdict.of(done.factor, done.level);
    if (!setting || factor == nullptr) return "";
    const std::string cost = signed_percent(factor->percent.value);
    return join("With ", *setting, ", ", done.factor, " costs ", cost, " (", factor->verdict, ")",
                done.of_unlimited
                    ? ", and the neighbour keeps " + share_text(*done.of_unlimited) + " of its speed without that limit"
                    : "",
                ".");
}

void compute_harvest(Report& report)
{
    Done& kept = report.kept.of<Done>();
    kept.harvest = harvested(*kept.beside, kept.alone, report.verdict.confidence);
    tell_tried_settings(report.verdict, kept.harvest);
}

nlohmann::ordered_json share_json(const std::optional<Share>& share)
{
    if (!share) return nullptr;
    return {{"percent", share->percent}, {"low_percent", share->interval.low}, {"high_percent", share->interval.high}};
}

void estimate_harvest(Report& report, const SectionInput& input)
{
    Done& kept = report.kept.of<Done>();
    kept.node_hour_cost = input.node_hour_cost;
    std::vector<std::filesystem::path> rows;
    for (const Record* record : noise_records(report)) {
        const std::filesystem::path file = record->archive.parent_path().parent_path() / base::file::noise_rows;
        if (std::filesystem::exists(file)) rows.push_back(file);
    }
    std::optional<Harvests> alone;
    if (!input.empty_node.empty()) alone = read_harvests(noise_rows_in(input.empty_node));
    if (rows.empty()) {
        if (alone) base::fail("--empty-node: there is no ", base::file::noise_rows, " of this run to compare it with");
        return;
    }
    std::optional<Harvests> own;
    try {
        own = read_harvests(rows);
    } catch (const base::Error& error) {  // the harvest is optional
        if (alone) throw;
        report.notes.push_back(join("the noise's harvest is left out: ", error.what()));
        return;
    }
    kept.beside = std::move(own);
    kept.alone = std::move(alone);
    kept.cpus = cpus_of_nodes(report);
    compute_harvest(report);
}

void write_harvest(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"factor", "level", "stressor", "unit", "per_s", "empty_node_percent",
                           "empty_node_low_percent", "empty_node_high_percent", "unlimited_percent",
                           "unlimited_low_percent", "unlimited_high_percent", "training_speed_percent", "noise_cpus",
                           "idle_cpus", "training_loses_per_node_hour", "neighbour_gets_per_node_hour"}};
    const CpusOfNodes& cpus = done_in(report).cpus;
    for (const Harvested& done : done_in(report).harvest) {
        const auto cells_of = [](const std::optional<Share>& share) -> std::vector<std::string> {
            if (!share) return {"", "", ""};
            return {fixed(share->percent, 4), fixed(share->interval.low, 4), fixed(share->interval.high, 4)};
        };
        const FactorVerdict* factor = report.verdict.of(done.factor, done.level);
        const std::optional<Worth> worth = worth_of(report, done);
        std::vector<std::string> row{done.factor, done.level, done.stressor, done.bytes ? "bytes" : "operations",
                                     fixed(done.per_s, 3)};
        for (const auto& share : {done.of_empty_node, done.of_unlimited})
            for (const std::string& cell : cells_of(share)) row.push_back(cell);
        row.push_back(factor == nullptr ? "" : fixed(speed_percent(factor->percent.value), 5));
        row.push_back(cpus.online > 0.0 ? fixed(cpus.noise, 0) : "");
        row.push_back(cpus.online > 0.0 ? fixed(cpus.idle, 0) : "");
        row.push_back(worth ? fixed(worth->training_loses, 6) : "");
        row.push_back(worth && worth->neighbour_gets ? fixed(*worth->neighbour_gets, 6) : "");
        table.write(row);
    }
}

void harvest_json(nlohmann::ordered_json& verdict, const Report& report)
{
    nlohmann::ordered_json& all = verdict["harvest"] = nlohmann::ordered_json::array();
    for (const Harvested& done : done_in(report).harvest) {
        const std::optional<Worth> worth = worth_of(report, done);
        nlohmann::ordered_json one{{"factor", done.factor},
                                   {"level", done.level},
                                   {"unit", done.bytes ? "bytes" : "operations"},
                                   {"per_s", done.per_s},
                                   {"of_empty_node", share_json(done.of_empty_node)},
                                   {"of_unlimited", share_json(done.of_unlimited)}};
        one["training_loses_per_node_hour"] = nullptr;
        one["neighbour_gets_per_node_hour"] = nullptr;
        if (worth) one["training_loses_per_node_hour"] = worth->training_loses;
        if (worth && worth->neighbour_gets) one["neighbour_gets_per_node_hour"] = *worth->neighbour_gets;
        all.push_back(one);
    }
}

// A sentence on core hours and cost of all noises; none if no price was given.
std::vector<std::string> worth_sentence(const Report& report)
{
    const Done& kept = done_in(report);
    std::vector<std::string> noises;
    for (const Harvested& done : kept.harvest) {
        const std::optional<Worth> worth = worth_of(report, done);
        if (!worth) continue;
        std::string text = join(base::factor_name(done.factor, done.level),
                                worth->training_loses > 0.0 ? " costs the training " : " saves the training ",
                                fixed(std::abs(worth->training_loses), 3));
        if (worth->neighbour_gets) text += join(" and gives the neighbour ", fixed(*worth->neighbour_gets, 3));
        noises.push_back(text);
    }
    if (noises.empty()) return {};
    const std::string hours = kept.cpus.idle > 0.0 ? join("In an hour noise can use ", kept.cpus.noise, " of ",
                                                          kept.cpus.idle, " idle core hours. At a node hour of ")
                                                   : "At a node hour of ";
    return {join(hours, kept.node_hour_cost, ", ", base::join_words(noises, ", "), ".")};
}

}  // namespace

void add_harvest_of_all(Report& all, const std::vector<std::vector<const Report*>>& runs)
{
    std::vector<std::vector<Harvests>> did;
    for (const std::vector<const Report*>& parts : runs) {
        std::vector<Harvests>& of_run = did.emplace_back();
        for (const Report* part : parts) {
            if (!done_in(*part).beside) return;  // the part has a note with the reason
            of_run.push_back(*done_in(*part).beside);
        }
    }
    const Done& first = done_in(*runs.front().front());
    all.kept.of<Done>() = {{}, harvests_of_all(did), first.alone, first.cpus, first.node_hour_cost};
    compute_harvest(all);
}

std::vector<std::string> harvest_sentences(const Report& report)
{
    std::vector<std::string> all;
    for (const Harvested& done : done_in(report).harvest) {
        all.push_back(harvest_sentence(report, done));
        all.push_back(setting_sentence(report, done));
    }
    std::erase(all, "");
    return all;
}

namespace section {

extern const Section harvest{
    .estimate = estimate_harvest,
    .tables = [](const Report&) -> std::vector<Table> {
        return {{"harvest.csv", write_harvest, true}};
    },
    .answer = worth_sentence,
    .sentences = harvest_sentences,
    .terminal = harvest_sentences,
    .markdown_title = "What the neighbour got done",
    .markdown = harvest_sentences,
    .json = harvest_json,
};

}  // namespace section

}  // namespace analysis
