// SPDX-License-Identifier: Apache-2.0
// The sentence of --quick about its coarseness.
#include "crosstalk/run/quick.hpp"

#include "base/files.hpp"
#include "crosstalk/run/noise_command.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace fs = std::filesystem;

namespace {

std::string said_of(double detectable_percent, double budget_percent = 1.0, bool trustworthy = true)
{
    const testing::Scratch scratch;
    crosstalk::Request request;
    request.out = request.whole = scratch / "run";
    request.duration = base::Nanoseconds{30'000'000'000};
    request.command = {"mpirun", "-n", "2", "./a b"};
    fs::create_directories(scratch / "run/report");
    const nlohmann::json verdict{{"trustworthy", trustworthy},
                                 {"budget_percent", budget_percent},
                                 {"factors",
                                  {{"io.write", {{"detectable_percent", nullptr}}},
                                   {"memory.stream", {{"detectable_percent", detectable_percent}}}}}};
    base::write_whole(scratch / "run/report/verdict.json", verdict.dump());
    return crosstalk::how_coarse(request);
}

}  // namespace

// The half width is proportional to 1 / sqrt(length): going from 6 % to 1 % takes 36 times 30 s.
TEST_CASE("a quick run says what it could have seen, and how long its budget takes")
{
    CHECK(said_of(6.0) ==
          "coarse (--quick): this run could have seen 6.00 % of memory.stream; for 1.00 % take about 18min: crosstalk "
          "run --duration 18min -- mpirun -n 2 './a b'");
    CHECK(said_of(0.5) ==
          "coarse (--quick): this run could have seen 0.50 % of memory.stream, and the budget is 1.00 %");
    CHECK(said_of(90.0).find("more than a day") != std::string::npos);
    CHECK(said_of(6.0, 1.0, false).empty());
    CHECK(crosstalk::how_coarse({}).empty());
}

TEST_CASE("the schedule auto is a factorial where each of its noises can have a core")
{
    crosstalk::Request request;
    request.control_delay = "0";
    CHECK(crosstalk::schedule_of(request, false, {0}) ==
          "rotation(memory.stream, network.exchange, io.write, placebo, control.pause; slot=1s)");
    request.noises = "memory.stream[rate=1GiB/s,bytes=64MiB], io.write";
    request.blind_slot = "500ms";
    CHECK(crosstalk::schedule_of(request, false, {0}) ==
          "rotation(memory.stream[rate=1GiB/s,bytes=64MiB], io.write, placebo, control.pause; slot=500ms)");
    request.noises = "io.write";
    request.control_delay = "5%";
    CHECK(crosstalk::schedule_of(request, true, {0}) ==
          "rotation(io.write, placebo, control.delay, control.sham; slot=auto)");
}
