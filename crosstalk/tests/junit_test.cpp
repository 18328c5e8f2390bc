// SPDX-License-Identifier: Apache-2.0
// A verdict as JUnit XML for CI systems.
#include "crosstalk/run/junit.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

TEST_CASE("JUnit: an unsafe noise fails, an undecided one is skipped, a run that is not trusted fails")
{
    const auto verdict =
        nlohmann::ordered_json::parse(R"({"trustworthy": false, "reasons": ["the <placebo> is off", "short"],
        "factors": {
            "a": {"verdict": "safe", "effect_percent": 0.1, "low_percent": 0.0, "high_percent": 0.2},
            "b&c": {"verdict": "unsafe", "effect_percent": 7.50188452736213, "low_percent": 5.0, "high_percent": 10.0},
            "d": {"verdict": "undecided", "effect_percent": 0.9, "low_percent": -1.0, "high_percent": 2.8}}})");
    CHECK(crosstalk::junit(verdict) == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
 <testsuite name="crosstalk" tests="4" failures="2" errors="0" skipped="1">
  <testcase classname="crosstalk" name="a stays within the budget"/>
  <testcase classname="crosstalk" name="b&amp;c stays within the budget"><failure message="unsafe: slowdown of a step 7.50 %, 95 % interval 5.00 % to 10.00 %"/></testcase>
  <testcase classname="crosstalk" name="d stays within the budget"><skipped message="undecided: slowdown of a step 0.90 %, 95 % interval -1.00 % to 2.80 %"/></testcase>
  <testcase classname="crosstalk" name="the run can be trusted"><failure message="the &lt;placebo&gt; is off; short"/></testcase>
 </testsuite>
</testsuites>
)");
}

TEST_CASE("JUnit: a run without a report is a test that ended in an error")
{
    CHECK(crosstalk::junit_without_report("the job failed (1): see <log>") == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
 <testsuite name="crosstalk" tests="1" failures="0" errors="1" skipped="0">
  <testcase classname="crosstalk" name="there is a report"><error message="the job failed (1): see &lt;log&gt;"/></testcase>
 </testsuite>
</testsuites>
)");
}
