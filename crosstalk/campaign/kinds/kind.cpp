// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/kinds/kind.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/spec_keys.hpp"

namespace crosstalk {

namespace fs = std::filesystem;

const std::vector<const CampaignKind*>& campaign_kinds()
{
    static const std::vector<const CampaignKind*> all{
#define CAMPAIGN_KIND(card) &(card),
#include "crosstalk/campaign/kinds/kinds.inc"
#undef CAMPAIGN_KIND
    };
    return all;
}

const CampaignKind& kind_of_spec(const fs::path& spec)
{
    for (const std::string& line : lines_of_spec(spec)) {
        const auto [name, value] = setting_in(line);
        if (name != "kind") continue;
        std::vector<std::string> names;
        for (const CampaignKind* kind : campaign_kinds()) {
            if (value == kind->name) return *kind;
            names.emplace_back(kind->name);
        }
        base::fail_usage(spec.string(), ": no kind '", value, "'", base::did_you_mean(value, names), " (",
                         base::join_words(names, ", "), ")");
    }
    return *campaign_kinds().front();
}

const CampaignKind& kind_of_directory(const fs::path& directory)
{
    const fs::path spec = directory / base::campaign::spec;
    if (!fs::exists(spec))
        base::fail_usage("no campaign in ", directory.string(), " (make one: crosstalk campaign plan SPEC.ini -o DIR)");
    return kind_of_spec(spec);
}

std::string text_of_spec(const PlanOptions& options)
{
    if (!options.seed) return base::read_whole(options.spec, longest_spec);
    std::string changed;
    for (const std::string& line : lines_of_spec(options.spec))
        if (setting_in(line).first != "seed") changed += line + "\n";
    return base::join(changed, "seed = ", *options.seed, "\n");
}

}  // namespace crosstalk
