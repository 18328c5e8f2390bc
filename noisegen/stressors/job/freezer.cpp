#include "noisegen/stressors/job/freezer.hpp"

#include "base/system/cgroups.hpp"
#include "base/system/processes.hpp"
#include "base/system/waiting.hpp"

#include <csignal>
#include <string>
#include <utility>

#include <unistd.h>

namespace noisegen {

namespace {

constexpr std::int64_t freeze_within_ns = 100'000'000;
constexpr std::int64_t look_again_ns = 100'000;

class Group : public Freezer {
 public:
    struct Kind {
        int version;
        const char* name;
        const char* file;  // says whether the group is frozen ..
        const char* on;
        const char* off;
        const char* state;  // .. and where that is said to be done
        const char* frozen;
    };

    Group(const Kind& kind, std::unique_ptr<base::OwnGroup> group) : kind_{kind}, group_{std::move(group)} {}

    void freeze() override
    {
        group_->put(kind_.file, kind_.on);
        base::wait_until([this] { return group_->holds(kind_.state, kind_.frozen); }, freeze_within_ns, look_again_ns);
    }
    void thaw() override { group_->put(kind_.file, kind_.off); }
    const char* name() const override { return kind_.name; }

 private:
    const Kind& kind_;
    std::unique_ptr<base::OwnGroup> group_;
};

constexpr Group::Kind version_2{2, "cgroup v2", "cgroup.freeze", "1", "0", "cgroup.events", "frozen 1"};
constexpr Group::Kind version_1{1, "cgroup v1", "freezer.state", "FROZEN", "THAWED", "freezer.state", "FROZEN"};

// Null where this user may make none, or may not move the process: an empty group, too, is soon frozen.
std::unique_ptr<Freezer> group_of(pid_t pid, const Group::Kind& kind)
{
    for (const base::CgroupDirectory& own : base::cgroup_directories("freezer")) {
        if (own.version != kind.version) continue;
        auto group = base::OwnGroup::make(own, "crosstalk-" + std::to_string(::getpid()));
        if (group && group->has(kind.file) && group->takes(pid)) return std::make_unique<Group>(kind, std::move(group));
    }
    return nullptr;
}

class Signals : public Freezer {
 public:
    void freeze() override
    {
        const auto all_rest = [] {
            bool all = true;
            for (const auto& [pid, process] : base::processes(descendants())) {
                if (process.state == 'T' || process.state == 't') continue;
                ::kill(pid, SIGSTOP);
                all = false;
            }
            return all;
        };
        base::wait_until(all_rest, freeze_within_ns, look_again_ns);
    }
    void thaw() override
    {
        for (const pid_t pid : descendants()) ::kill(pid, SIGCONT);
    }
    const char* name() const override { return "signals"; }
};

}  // namespace

std::set<pid_t> descendants()
{
    std::set<pid_t> all = base::with_descendants({::getpid()}, base::processes());
    all.erase(::getpid());
    return all;
}

std::unique_ptr<Freezer> freezer_of(pid_t pid)
{
    for (const Group::Kind* kind : {&version_2, &version_1})
        if (std::unique_ptr<Freezer> group = group_of(pid, *kind)) return group;
    return std::make_unique<Signals>();
}

}  // namespace noisegen
