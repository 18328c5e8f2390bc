// SPDX-License-Identifier: Apache-2.0
// Noise under a limit: this process and its children run in control groups of their own, whose limits are set while a
// level with a limit is on.
#pragma once

#include "base/system/cgroups.hpp"
#include "noisegen/schedule/schedule.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace noisegen {

class LimitGroup {
 public:
    // Returns null if no level of the schedule has a limit. `noise` is the noise CPUs. Tries every limit once. Throws
    // Unavailable if this user may not create such a group, or if the machine lacks the mechanism.
    static std::unique_ptr<LimitGroup> make(const Schedule& schedule, const base::CpuSet& noise);
    ~LimitGroup();  // moves the process back to its original group
    LimitGroup(const LimitGroup&) = delete;
    LimitGroup& operator=(const LimitGroup&) = delete;

    void set(const ResourceLimit& limit) const;
    void lift(const ResourceLimit& limit) const;
    std::string how(const ResourceLimit& limit) const;  // "cgroup v1"

 private:
    LimitGroup() = default;
    void take_this_process(const std::vector<ResourceLimit>& limits);
    void take_into_resctrl(const ResourceLimit& limit);
    bool put(const ResourceLimit& limit, bool on) const;
    const base::OwnGroup* group_for(const ResourceLimit& limit) const;

    struct Held {
        std::unique_ptr<base::OwnGroup> group;
        std::filesystem::path home;  // original group of the process
    };
    base::CpuSet noise_;
    std::vector<Held> groups_;
    std::filesystem::path resctrl_;  // a resctrl group, if one is needed
};

// A stressor that runs under a limit from the start of its slot to its end. Work still in flight then continues without
// the limit, since the next slot belongs to another level.
class LimitedStressor : public Stressor {
 public:
    // `sets` is true for the one thread of a stressor that sets the limit. All references must outlive this object.
    LimitedStressor(Stressor& stressor, const LimitGroup& group, const ResourceLimit& limit, int cpu, bool sets)
        : stressor_{stressor}, group_{group}, limit_{limit}, cpu_{cpu}, sets_{sets}
    {
    }

    void begin(const Turn& turn) override;
    Work step() override { return stressor_.step(); }
    void end() override;

 private:
    Stressor& stressor_;
    const LimitGroup& group_;
    const ResourceLimit& limit_;
    int cpu_;
    bool sets_;
};

}  // namespace noisegen
