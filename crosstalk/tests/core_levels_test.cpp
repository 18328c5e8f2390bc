// SPDX-License-Identifier: Apache-2.0
// The numbers of cores that job.cores tries, and the noise's schedule with them.
#include "crosstalk/run/place/core_levels.hpp"

#include "crosstalk/run/noise_command.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

TEST_CASE("levels go to all cores, with a number between two powers of two")
{
    CHECK(crosstalk::core_levels(1) == std::vector<std::size_t>{1});
    CHECK(crosstalk::core_levels(2) == std::vector<std::size_t>{1, 2});
    CHECK(crosstalk::core_levels(3) == std::vector<std::size_t>{1, 2, 3});
    CHECK(crosstalk::core_levels(16) == std::vector<std::size_t>{1, 2, 3, 4, 6, 8, 12, 16});
    CHECK(crosstalk::core_levels(20) == std::vector<std::size_t>{1, 2, 3, 4, 6, 8, 12, 16, 20});
}

TEST_CASE("the schedule of crosstalk cores is a rotation over the numbers of cores")
{
    crosstalk::Request request;
    request.noises = crosstalk::noise_of_cores({}, "memory.stream");
    const std::string schedule = crosstalk::schedule_of(request, false, {0, 1, 2, 3});
    CHECK(crosstalk::takes_cores(schedule));
    CHECK(crosstalk::with_core_levels(schedule, 4) ==
          "rotation(job.cores[keep=1|2|3|4,neighbour=memory.stream], placebo, control.pause; slot=1s)");
    request.noises = crosstalk::noise_of_cores({2, 4}, "none");
    CHECK(crosstalk::with_core_levels(crosstalk::schedule_of(request, true, {0}), 16) ==
          "rotation(job.cores[keep=2|4,neighbour=none], placebo, control.delay, control.sham; slot=auto)");
    CHECK_FALSE(crosstalk::takes_cores("rotation(job.run[file=./a], placebo; slot=1s)"));
}

TEST_CASE("ranks that share CPUs can keep their part of them")
{
    const std::size_t cores = base::physical_cores(base::allowed_cpus()).size();
    CHECK(crosstalk::cores_of_a_rank({::getpid()}) == cores);
    CHECK(crosstalk::cores_of_a_rank({::getpid(), ::getppid()}) <= cores / 2);
    CHECK(crosstalk::cores_of_a_rank({}) == 0);
}
