// SPDX-License-Identifier: Apache-2.0
// Waits and their causes in random MPI programs: a subset of the nightly ones.
#include "testing/archives/random_archives.hpp"

#include <doctest/doctest.h>

TEST_CASE(
    "all waits of 100 random programs are found, their delay costs add up to them, and a slow rank has the largest")
{
    CHECK(testing::check_random_archives(1, 100) == "");
}
