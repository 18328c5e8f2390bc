// The option --threads of programs in which one thread can read events while another analyses them.
#pragma once

#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/system/cpus.hpp"

#include <algorithm>

struct Threads {
    int count = std::min<int>(static_cast<int>(base::allowed_cpus().size()), 2);

    void add_to(base::Options& options)
    {
        options.add("threads", count, "with 2 one thread reads events while another analyses them", "1|2");
    }

    void check() const
    {
        if (count < 1 || count > 2) base::fail_usage("--threads is 1 or 2, not ", count);
    }
};
