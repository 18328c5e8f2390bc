// SPDX-License-Identifier: Apache-2.0
// The option --threads of programs that can read events on one thread and analyse them on another.
#pragma once

#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/system/cpus.hpp"

#include <algorithm>

struct Threads {
    static constexpr int most = 64;
    int count = std::min<int>(static_cast<int>(base::allowed_cpus().size()), 2);

    void add_to(base::Options& options)
    {
        options.add(
            "threads", count,
            "threads that read events; one orders them and matches messages, with 2 or more another finds delays, "
            "with 3 or more a third passes events on",
            "N");
    }

    void check() const
    {
        if (count < 1 || count > most) base::fail_usage("--threads must be 1 to ", most, ", not ", count);
    }
};
