// SPDX-License-Identifier: Apache-2.0
// Freezes and thaws a family of processes by the freezer of control groups.
#pragma once

#include <cstdint>
#include <memory>

#include <sys/types.h>

namespace noisegen {

constexpr std::int64_t freeze_within_ns = 100'000'000;
constexpr std::int64_t look_again_ns = 100'000;

class Freezer {
 public:
    virtual ~Freezer() = default;
    virtual void freeze() = 0;  // all of the group rest when it returns, or after freeze_within_ns
    virtual bool is_frozen() const = 0;
    virtual void thaw() = 0;
    virtual bool holds(pid_t pid) const = 0;  // is it in the group? A container's runtime takes its processes out of it
    virtual const char* name() const = 0;     // "cgroup v2"
};

// A freezer of a child of this process, which starts nothing yet, and of all that it will start; version 2 of control
// groups before version 1. Null where this user may make no group: signals are left.
std::unique_ptr<Freezer> freezer_of(pid_t pid);

}  // namespace noisegen
