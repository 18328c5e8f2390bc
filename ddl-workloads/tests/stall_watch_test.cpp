// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/train/watch/stall_watch.hpp"

#include <doctest/doctest.h>

TEST_CASE("a stall report says who waits, who has not come and who is silent")
{
    const std::vector<ddl::StalledRank> stalled{
        {.rank = 0, .waits = true, .where = "wait_exchange of step 12 for 60 s, bucket 1 being exchanged"},
        {.rank = 2, .waits = false, .where = "load of step 12 for 61 s"}};
    CHECK(ddl::stall_report(stalled, 4, std::chrono::seconds{60}) ==
          "no progress for 60s; waiting: rank 0 (wait_exchange of step 12 for 60 s, bucket 1 being exchanged); "
          "not arrived: rank 2 (load of step 12 for 61 s); silent (stopped, dead or cut off): rank 1, rank 3");
    CHECK(ddl::stall_report({stalled.back()}, 3, std::chrono::seconds{5}) ==
          "no progress for 5s; not arrived: rank 2 (load of step 12 for 61 s); "
          "silent (stopped, dead or cut off): rank 0, rank 1");
}
