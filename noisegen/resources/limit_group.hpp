// SPDX-License-Identifier: Apache-2.0
// Noise under a limit: this process, with all that it starts, in control groups of its own, whose limits are set while
// a level that has one is on.
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
    // Null where no level of the schedule has a limit. noise: the CPUs that it runs on. Tries every limit once. Throws
    // Unavailable where this user may make no such group, or the machine lacks what sets the limit.
    static std::unique_ptr<LimitGroup> make(const Schedule& schedule, const base::CpuSet& noise);
    ~LimitGroup();  // the process goes back to where it was
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
        std::filesystem::path home;  // the group in which the process was
    };
    base::CpuSet noise_;
    std::vector<Held> groups_;
    std::filesystem::path resctrl_;  // a group of it, if there is one
};

// A stressor that runs under a limit from the begin of its turn to its end. What it has in flight then ends without it:
// the next slot is not its own.
class LimitedStressor : public Stressor {
 public:
    // `sets`: of the threads of a stressor one does. All must outlive it.
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
