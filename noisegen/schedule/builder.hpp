// SPDX-License-Identifier: Apache-2.0
// Builds a schedule: factors become levels, and each stressor with its options is listed once.
#pragma once

#include "noisegen/schedule/schedule.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace noisegen {

// All functions throw UsageError for requests that a schedule cannot express.
class ScheduleBuilder {
 public:
    ScheduleBuilder(Schedule::Design design, std::string_view text);

    // Adds the factor; returns one treatment for each of its levels, none for quiet.
    std::vector<Treatment> factor(const base::PlugInText& plug_in, bool may_have_levels);

    // Like factor(), for schedule forms in which a label may appear only once.
    std::vector<Treatment> new_factor(const base::PlugInText& plug_in, bool may_have_levels);

    // Adds a level for each rate, for a factor whose own options give it a single level.
    std::vector<Treatment> factor_at(const base::PlugInText& plug_in, const std::vector<base::Rate>& rates);

    bool runs_on_cpus(const Treatment& treatment) const;

    Schedule finish(decltype(Schedule::order) order);

 private:
    using Options = std::map<std::string, std::string>;

    void check_controls() const;
    std::size_t index_of(const std::string& label, const std::string& value, const StressorCard& card,
                         const Options& options, std::optional<base::Rate> rate = {});
    std::size_t stressor(const std::string& label, const StressorCard& card, Options options);

    Schedule schedule_;
    std::set<std::string> labels_;
    std::vector<std::string> owners_;  // by stressor: in a factorial, label of its factor
};

}  // namespace noisegen
