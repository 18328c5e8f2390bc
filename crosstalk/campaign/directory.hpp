// SPDX-License-Identifier: Apache-2.0
// The directory of a campaign: its plan and its progress. A run counts once runs/<name> exists. That directory appears
// by rename, so nothing counts twice, whichever process is killed.
#pragma once

#include "base/descriptor.hpp"
#include "crosstalk/campaign/plan.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace crosstalk {

class CampaignDirectory {
 public:
    // Throws UsageError if there is no campaign.
    explicit CampaignDirectory(const std::filesystem::path& path);

    // Writes the spec's text and the plan. Throws UsageError if the path exists.
    static void make(const std::filesystem::path& path, const std::string& spec, const Plan& plan);

    const std::filesystem::path& path() const { return path_; }
    const Spec& spec() const { return spec_; }
    const Plan& plan() const { return plan_; }

    std::filesystem::path finished(const PlannedRun& run) const;
    std::filesystem::path partial(const PlannedRun& run) const;
    std::filesystem::path failed(const PlannedRun& run, int attempt) const;  // attempts count from 1

    bool is_done(const PlannedRun& run) const;
    int failures(const PlannedRun& run) const;
    Plan pending(int retries) const;  // runs that do not count yet and may be tried (again)

    // A file requests the stop, so that it reaches the process that runs the campaign on any node.
    bool stop_requested() const;
    void request_stop() const;
    void withdraw_stop() const;

 private:
    std::filesystem::path path_;
    Spec spec_;
    Plan plan_;
};

// status.json of a run; none if it is missing or incomplete.
std::optional<nlohmann::ordered_json> status_of(const std::filesystem::path& run);

// A lock that the process holds which runs a campaign or a block of it. The kernel releases it when the process ends.
class CampaignLock {
 public:
    // Throws UsageError that names the holder.
    CampaignLock(const CampaignDirectory& campaign, const std::string& name);

    static bool is_held(const CampaignDirectory& campaign, const std::string& name);

 private:
    base::Descriptor file_;
};

std::string block_lock(int block);

// Does a process run the campaign, or a block of it?
bool is_being_run(const CampaignDirectory& campaign);

}  // namespace crosstalk
