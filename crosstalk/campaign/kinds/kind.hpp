// SPDX-License-Identifier: Apache-2.0
// Kinds of campaigns, chosen by the line "kind = NAME" of SPEC.ini. Each kind is one file, which ends in its card;
// kinds.inc lists them.
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
    std::optional<std::uint64_t> seed;  // replaces the spec's seed
    std::filesystem::path out;          // the campaign's directory, which is created; empty with dry_run
    bool dry_run = false;
};

struct CampaignRunOptions {
    int retries = 2;                 // repetitions of a run that does not count
    std::string back_end = "local";  // "local", "slurm" or "step"
    int jobs = 4;                    // maximum number of blocks in Slurm's queue
    std::filesystem::path site;      // file with the cluster's lines for jobs; empty: the stored ones
    bool two_jobs = false;           // training and noise are separate jobs
    std::optional<int> block;        // if set, only this block
    bool dry_run = false;
    std::vector<std::string> given;  // names of the options that were given
};

struct CampaignKind {
    const char* name;
    base::Section (*keys)();  // keys of SPEC.ini, for the manual

    // Creates the directory and prints the plan. Throws UsageError for an invalid spec, or if the directory exists.
    void (*plan)(const PlanOptions& options);

    // The next functions return an exit code.
    int (*run)(const std::filesystem::path& directory, const CampaignRunOptions& options);
    int (*status)(const std::filesystem::path& directory, std::optional<int> retries, bool as_json);
    int (*stop)(const std::filesystem::path& directory);
    int (*collect)(const std::filesystem::path& directory);
};

#define CAMPAIGN_KIND(card) extern const CampaignKind card;
#include "crosstalk/campaign/kinds/kinds.inc"
#undef CAMPAIGN_KIND

const std::vector<const CampaignKind*>& campaign_kinds();

// The kind that a spec names, by default the first. Throws UsageError for an unknown one.
const CampaignKind& kind_of_spec(const std::filesystem::path& spec);

// The kind of the campaign in that directory. Throws UsageError if there is no campaign.
const CampaignKind& kind_of_directory(const std::filesystem::path& directory);

// The text of a spec; options.seed replaces its seed if given.
std::string text_of_spec(const PlanOptions& options);

}  // namespace crosstalk
