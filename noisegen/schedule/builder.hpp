// SPDX-License-Identifier: Apache-2.0
// A schedule as it is put together: factors become levels, each stressor with its options once.
#pragma once

#include "noisegen/schedule/schedule.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace noisegen {

// All of it throws UsageError for what a schedule cannot hold.
class ScheduleBuilder {
 public:
    ScheduleBuilder(Schedule::Design design, std::string_view text);

    // Every level of the factor; nothing for quiet.
    std::vector<Treatment> factor(const base::PlugInText& plug_in, bool may_have_levels);

    // Like above, for forms in which a label may appear once only.
    std::vector<Treatment> new_factor(const base::PlugInText& plug_in, bool may_have_levels);

    // A level for each rate, of a factor that has none in its own options.
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
    std::vector<std::string> owners_;  // by stressor: in a factorial the label of its factor
};

}  // namespace noisegen
