// SPDX-License-Identifier: Apache-2.0
// Messages of Crosstalk's other programs in messages of this one.
#include "crosstalk/programs/programs.hpp"

#include "base/files.hpp"
#include "testing/environment.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

using namespace crosstalk;

TEST_CASE("a message of another program loses the program's name, and nothing else")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "noisegen", "a program");
    base::write_whole(scratch / "interference", "another");
    const testing::Environment environment{{{"CROSSTALK_BIN", scratch.path().string()}}};
    CHECK(message_in("noisegen: no stressor 'x'") == "no stressor 'x'");
    CHECK(message_in("interference: noisegen: run1: no noise") == "run1: no noise");
    for (const std::string line :
         {"srun: error: no nodes", "../noisegen: not found", "no noisegen: here", ": none", ""})
        CHECK(message_in(line) == line);
    CHECK(last_message("noisegen: slow\nnoisegen: no CPU: 9\n \n") == "no CPU: 9");
    CHECK(last_message("").empty());
}
