// SPDX-License-Identifier: Apache-2.0
// Kinds of campaigns, chosen by a line "kind = NAME" of SPEC.ini. Each kind is one file, which ends in its card; all of
// them stand in kinds.inc.
#pragma once

#include "base/cli/manual.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace crosstalk {

struct PlanOptions {
    std::filesystem::path spec;
    std::optional<std::uint64_t> seed;  // instead of the spec's
    std::filesystem::path out;          // the campaign's directory, to be made; empty with dry_run
    bool dry_run = false;
};

struct CampaignRunOptions {
    int retries = 2;                 // of a run that does not count
    std::string back_end = "local";  // or slurm, step
    int jobs = 4;                    // blocks queued in Slurm at a time
    std::filesystem::path site;      // lines of a cluster for its jobs; empty: those that are kept
    bool two_jobs = false;           // training and noise
    std::optional<int> block;        // only this one
    bool dry_run = false;
    std::vector<std::string> given;  // names of those that were given
};

struct CampaignKind {
    const char* name;
    base::Section (*keys)();  // of SPEC.ini, for a manual

    // Makes the directory, and prints what was planned. Throws UsageError for a wrong spec, or where the directory is.
    void (*plan)(const PlanOptions& options);

    // The next four return an exit code.
    int (*run)(const std::filesystem::path& directory, const CampaignRunOptions& options);
    int (*status)(const std::filesystem::path& directory, std::optional<int> retries, bool as_json);
    int (*stop)(const std::filesystem::path& directory);
    int (*collect)(const std::filesystem::path& directory);
};

#define CAMPAIGN_KIND(card) extern const CampaignKind card;
#include "crosstalk/campaign/kinds/kinds.inc"
#undef CAMPAIGN_KIND

const std::vector<const CampaignKind*>& campaign_kinds();

// The kind that a spec names; the first where it names none. Throws UsageError for one that is not known.
const CampaignKind& kind_of_spec(const std::filesystem::path& spec);

// The kind of the campaign in that directory. Throws UsageError where there is none.
const CampaignKind& kind_of_directory(const std::filesystem::path& directory);

// The text of a spec, with this seed if there is one.
std::string text_of_spec(const PlanOptions& options);

}  // namespace crosstalk
