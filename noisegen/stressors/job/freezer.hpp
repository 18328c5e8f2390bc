// SPDX-License-Identifier: Apache-2.0
// Freezes and thaws all processes of a job with the freezer of control groups.
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
    virtual void freeze() = 0;  // returns when all of the group are frozen, or after freeze_within_ns
    virtual bool is_frozen() const = 0;
    virtual void thaw() = 0;
    virtual bool holds(pid_t pid) const = 0;  // is it in the group? A container's runtime moves its processes out
    virtual const char* name() const = 0;     // "cgroup v2"
};

// A freezer for a child of this process that has not started anything yet, and for all its later descendants. Prefers
// version 2 of control groups. Null if this user may not create a group; then signals must be used.
std::unique_ptr<Freezer> freezer_of(pid_t pid);

}  // namespace noisegen
