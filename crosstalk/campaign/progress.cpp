// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/progress.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <ostream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

char letter_of(const CampaignDirectory& campaign, const PlannedRun& run, int retries)
{
    if (campaign.is_done(run)) return '+';
    if (fs::exists(campaign.partial(run))) return '>';
    return campaign.failures(run) > retries ? 'x' : '.';
}

}  // namespace

double Standing::fraction() const
{
    return runs == 0 ? 1.0 : static_cast<double>(done + given_up) / static_cast<double>(runs);
}

std::string Standing::text() const
{
    std::string line = base::join(done, " of ", runs, " runs count");
    if (failures > 0) line += base::join(", ", failures, failures == 1 ? " attempt" : " attempts", " did not");
    if (pending() == 0) return line;
    return line + base::join(", ", duration_left(base::seconds(left)), " left");
}

std::string duration_left(double seconds)
{
    const auto minutes = static_cast<std::int64_t>(seconds / 60.0 + 0.5);
    return minutes < 2 ? base::join(static_cast<std::int64_t>(seconds), " s") : base::join(minutes, " minutes");
}

const char* being_run(bool is_being_run)
{
    return is_being_run ? "running" : "not running";
}

Standing standing_of(const CampaignDirectory& campaign, int retries)
{
    Standing standing;
    standing.runs = campaign.plan().size();
    double took_s = 0.0;
    double expected_s = 0.0;
    base::Nanoseconds left{0};
    for (const PlannedRun& run : campaign.plan()) {
        const base::Nanoseconds length = expected(run, campaign.spec()).time;
        const int failures = campaign.failures(run);
        standing.failures += static_cast<std::size_t>(failures);
        if (campaign.is_done(run)) {
            ++standing.done;
            const auto status = status_of(campaign.finished(run));
            took_s += status ? status->value("seconds", 0.0) : 0.0;
            expected_s += base::seconds(length);
        } else if (failures > retries) {
            ++standing.given_up;
        } else {
            left += length;
            if (fs::exists(campaign.partial(run))) ++standing.running;
        }
    }
    const double pace = took_s > 0.0 ? took_s / expected_s : 1.0;
    standing.left = base::Nanoseconds{static_cast<std::int64_t>(static_cast<double>(left.count()) * pace)};
    return standing;
}

void print_standing(std::ostream& out, const CampaignDirectory& campaign, int retries)
{
    std::map<int, std::string> blocks;
    for (const PlannedRun& run : campaign.plan()) blocks[run.block] += letter_of(campaign, run, retries);
    for (const auto& [block, letters] : blocks) out << "block " << block << "  " << letters << "\n";
    out << "+ counts, > running, . pending, x given up\n"
        << standing_of(campaign, retries).text() << "\n"
        << being_run(is_being_run(campaign)) << "\n";
}

void print_standing_json(std::ostream& out, const CampaignDirectory& campaign, int retries)
{
    const Standing standing = standing_of(campaign, retries);
    nlohmann::ordered_json json;
    json["format"] = base::format_version;
    json["runs"] = standing.runs;
    json["done"] = standing.done;
    json["given_up"] = standing.given_up;
    json["pending"] = standing.pending();
    json["running"] = standing.running;
    json["failures"] = standing.failures;
    json["seconds_left"] = base::seconds(standing.left);
    json["is_being_run"] = is_being_run(campaign);
    out << base::json_text(json, base::one_line) << "\n";
}

}  // namespace crosstalk
