// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/job/freezer.hpp"

#include "base/system/cgroups.hpp"
#include "base/system/waiting.hpp"

#include <string>
#include <utility>

#include <unistd.h>

namespace noisegen {

namespace {

class Group : public Freezer {
 public:
    struct Kind {
        int version;
        const char* name;
        const char* file;  // file that freezes the group
        const char* on;
        const char* off;
        const char* state;  // file that shows when the group is frozen
        const char* frozen;
    };

    Group(const Kind& kind, std::unique_ptr<base::OwnGroup> group, pid_t first)
        : kind_{kind}, group_{std::move(group)}, path_{base::control_group_of(first, "freezer", kind.version)}
    {
    }

    void freeze() override
    {
        group_->put(kind_.file, kind_.on);
        base::wait_until([this] { return is_frozen(); }, freeze_within_ns, look_again_ns);
    }
    bool is_frozen() const override { return group_->holds(kind_.state, kind_.frozen); }
    void thaw() override { group_->put(kind_.file, kind_.off); }
    bool holds(pid_t pid) const override
    {
        const std::string group = base::control_group_of(pid, "freezer", kind_.version);
        return group == path_ || group.starts_with(path_ + "/");
    }
    const char* name() const override { return kind_.name; }

 private:
    const Kind& kind_;
    std::unique_ptr<base::OwnGroup> group_;
    std::string path_;  // the kernel's name of the group
};

constexpr Group::Kind version_2{2, "cgroup v2", "cgroup.freeze", "1", "0", "cgroup.events", "frozen 1"};
constexpr Group::Kind version_1{1, "cgroup v1", "freezer.state", "FROZEN", "THAWED", "freezer.state", "FROZEN"};

// Null if this user may not create a group or move the process into it. An empty group would report frozen anyway, so
// only the move shows that freezing works.
std::unique_ptr<Freezer> group_of(pid_t pid, const Group::Kind& kind)
{
    for (const base::CgroupDirectory& own : base::cgroup_directories("freezer")) {
        if (own.version != kind.version) continue;
        auto group = base::OwnGroup::make(own, base::name_of_freezer(::getpid()));
        if (group && group->has(kind.file) && group->takes(pid))
            return std::make_unique<Group>(kind, std::move(group), pid);
    }
    return nullptr;
}

}  // namespace

std::unique_ptr<Freezer> freezer_of(pid_t pid)
{
    for (const Group::Kind* kind : {&version_2, &version_1})
        if (std::unique_ptr<Freezer> group = group_of(pid, *kind)) return group;
    return nullptr;
}

}  // namespace noisegen
