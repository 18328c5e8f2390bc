// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/identity.hpp"

#include "analysis/results/record.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace analysis {

using base::join;
using Json = nlohmann::ordered_json;

Identity identity(const Report& report)
{
    Identity found;
    found.ranks = report.run.steps.ranks.size();
    found.schedule = report.schedule;
    found.seed = report.seed;
    found.step_is = report.step_is;
    for (const std::string& host : report.hosts)
        if (!host.empty() && std::find(found.hosts.begin(), found.hosts.end(), host) == found.hosts.end())
            found.hosts.push_back(host);
    if (const Record* record = training_record(report)) {
        const Json& training = object_in(record->json, "training");
        found.model = word(training, "model");
        found.data = word(training, "data");
        found.strategy = word(training, "strategy");
        found.cpu_model = word(record->json, "cpu_model");
        found.started = word(record->json, "started");
        if (const std::string host = word(record->json, "host"); found.hosts.empty() && !host.empty())
            found.hosts.push_back(host);  // a table may lack the host
    }
    return found;
}

std::string text(const Identity& identity)
{
    std::vector<std::string> parts;
    if (!identity.model.empty()) parts.push_back(identity.model);
    if (!identity.strategy.empty()) parts.push_back(identity.strategy);
    std::string ranks = join(identity.ranks, identity.ranks == 1 ? " rank" : " ranks");
    if (identity.hosts.size() > 3)
        ranks += join(" on ", identity.hosts.size(), " nodes");
    else if (!identity.hosts.empty())
        ranks += " on " + base::join_words(identity.hosts, ", ");
    parts.push_back(ranks);
    if (!identity.started.empty()) parts.push_back(identity.started);
    if (!identity.step_is.empty()) parts.push_back(identity.step_is);
    return base::join_words(parts, ", ");
}

void drop_foreign_records(Report& report, const Training& training, const std::vector<Noise>& noise)
{
    const auto drop = [&](Record& record, const std::string& why) {
        if (why.empty()) return;
        report.notes.push_back(
            join("the record next to ", record.archive.string(), " is of another run, so it is not shown: ", why));
        record.json = nullptr;
    };
    const auto differs = [](const std::string& recorded, const std::string& archived) {
        return !recorded.empty() && !archived.empty() && recorded != archived;
    };
    for (Record& record : report.records) {
        if (!record.json.is_object()) continue;
        const std::string clock = word(record.json, "clock_identity");
        if (record.what == "training") {
            const auto steps = number_in(object_in(record.json, "result"), "steps");
            const auto in_archive = static_cast<double>(training.steps.numbers.size());
            const auto started = number_in(record.json, "started_monotonic_ns");
            if (differs(clock, training.clock.front()))
                drop(record, "its clock differs");
            else if (steps && std::abs(*steps - in_archive) > 1.0)
                drop(record, join("it has ", *steps, " steps, the archive ", in_archive));
            else if (started && *started > static_cast<double>(training.steps.ranks.front().begin_ns.front()))
                drop(record, "it began after the archive's first step");
            continue;
        }
        const auto own =
            std::find_if(noise.begin(), noise.end(), [&](const Noise& n) { return n.archive == record.archive; });
        if (own == noise.end()) continue;
        const auto seed = number_in(record.json, "seed");
        const auto end = number_in(record.json, "end_ns");
        if (differs(clock, own->clock))
            drop(record, "its clock differs");
        else if (differs(word(record.json, "schedule"), own->schedule))
            drop(record, "its schedule differs");
        else if (seed && !own->seed.empty() && *seed != std::strtod(own->seed.c_str(), nullptr))
            drop(record, "its seed differs");
        else if (end && std::abs(*end - static_cast<double>(own->slots.back().end_ns)) > 1e9)
            drop(record, "it ended at another time");
    }
}

}  // namespace analysis
