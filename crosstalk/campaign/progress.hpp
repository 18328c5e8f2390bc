// SPDX-License-Identifier: Apache-2.0
// Progress of a campaign.
#pragma once

#include "crosstalk/campaign/directory.hpp"

#include <iosfwd>
#include <string>

namespace crosstalk {

struct Standing {
    std::size_t runs = 0;
    std::size_t done = 0;
    std::size_t given_up = 0;   // runs that do not count after the last retry
    std::size_t failures = 0;   // attempts that do not count
    std::size_t running = 0;    // runs in progress, or cut off if no process runs the campaign
    base::Nanoseconds left{0};  // estimate from past runs, or from the plan

    std::size_t pending() const { return runs - done - given_up; }
    double fraction() const;
    std::string text() const;  // "12 of 30 runs count, 14 minutes left"
};

// "14 minutes"; below two minutes "90 s".
std::string duration_left(double seconds);
// Returns "running" or "not running".
const char* being_run(bool is_being_run);

Standing standing_of(const CampaignDirectory& campaign, int retries);

// Prints one line per block and the sum, for `campaign status`.
void print_standing(std::ostream& out, const CampaignDirectory& campaign, int retries);
void print_standing_json(std::ostream& out, const CampaignDirectory& campaign, int retries);

}  // namespace crosstalk
