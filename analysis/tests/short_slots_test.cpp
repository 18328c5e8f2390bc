// SPDX-License-Identifier: Apache-2.0
// Tests of slots that are too short for their steps.
#include "analysis/estimate/analyse.hpp"
#include "base/error.hpp"
#include "testing/synthetic_steps.hpp"

#include <doctest/doctest.h>

TEST_CASE("a run whose slots hold fewer than two steps is refused with the length that slots need")
{
    const auto analysed = [](double slot_ms) {
        const auto length_ms = [](std::int64_t number, const analysis::Slot&) {
            return 100.0 + 0.1 * static_cast<double>(number * 7 % 11 - 5);
        };
        const analysis::DesignedRun run =
            analysis::testing::laid(analysis::testing::calm_and_net(40, slot_ms), length_ms);
        return analysis::analyse(run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 199}, .by_rank = false});
    };
    CHECK_THROWS_WITH_AS(analysed(190.0), doctest::Contains("a slot must hold two steps"), base::Error);
    CHECK_THROWS_WITH_AS(analysed(190.0), doctest::Contains("slot=1s"), base::Error);
    CHECK_NOTHROW(analysed(210.0));
}
