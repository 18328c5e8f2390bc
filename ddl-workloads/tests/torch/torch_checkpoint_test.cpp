// SPDX-License-Identifier: Apache-2.0
#include "testing/later_changes.hpp"

#include <doctest/doctest.h>

TEST_CASE("what changes after a checkpoint in the background began is not in it, in the format torch either")
{
    testing::check_later_changes(ddl::checkpoint_formats().find("torch"));
}
