// SPDX-License-Identifier: Apache-2.0
// job.checkpoint and job.loaders: the request that noisegen makes to a training, once per slot.
#include "base/contract/control_file.hpp"
#include "base/csv.hpp"
#include "base/system/clock.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace testing;

std::vector<std::string> noise_words(const Scratch& scratch, const std::string& schedule)
{
    return {"env", without_leak_check, program,  "--schedule", schedule,       "--cpus",
            cpu(), "--duration",       "1500ms", "--out",      scratch / "run"};
}

struct Asked {
    Outcome outcome;
    std::set<std::uint32_t> values;  // parameters of the requests
};

// Runs noise and a thread that answers each request of this kind once, as a training does.
Asked noise_that_asks(const Scratch& scratch, const std::string& schedule, base::ControlRequest kind)
{
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    Asked asked;
    std::jthread training{[&](const std::stop_token& stop) {
        base::ControlPage& page = control.page();
        std::int64_t slot_end_ns = 0;
        while (!stop.stop_requested()) {
            const bool wanted = base::request(page, base::now_ns()) == kind;
            if (wanted && std::exchange(slot_end_ns, page.slot_end_ns.load()) != page.slot_end_ns) {
                asked.values.insert(page.value.load());
                ++page.served;
            }
            base::sleep_until_ns(base::now_ns() + 1'000'000);
        }
    }};
    asked.outcome = testing::run(noise_words(scratch, schedule));
    training.request_stop();
    training.join();
    return asked;
}

}  // namespace

TEST_CASE("a training is asked for one checkpoint a slot, and an operation is one that it took up")
{
    const Scratch scratch;
    const Asked asked = noise_that_asks(scratch, "job.checkpoint[mode=async] 300ms; quiet 200ms",
                                        base::ControlRequest::checkpoint_async);
    INFO(asked.outcome.err);
    REQUIRE(asked.outcome.status == 0);
    const base::CsvTable rows{part(scratch) / "noise.csv"};
    std::int64_t operations = 0;
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (rows.text(row, "stressor") == "job.checkpoint") operations += rows.get<std::int64_t>(row, "operations");
    CHECK(operations == 3);
}

TEST_CASE("a training is asked for each level of its loader threads")
{
    const Scratch scratch;
    const Asked asked =
        noise_that_asks(scratch, "rotation(job.loaders[workers=0|2|8]; slot=100ms)", base::ControlRequest::loaders);
    INFO(asked.outcome.err);
    CHECK(asked.outcome.status == 0);
    CHECK(asked.values == std::set<std::uint32_t>{0, 2, 8});
}

TEST_CASE("requests that no training takes up are a promise that noise did not keep")
{
    const Scratch scratch;
    const Outcome outcome = testing::run(noise_words(scratch, "job.checkpoint 300ms; quiet 200ms"));
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("3 of 3 requests that the training did not answer") != std::string::npos);
    CHECK(run_noisegen({"job.checkpoint[mode=later]", "1s"}).status == 2);
    CHECK(run_noisegen({"job.loaders[workers=-1]", "1s"}).status == 2);
}

namespace {

// Runs noise and a training of short steps that does not answer the fifth and the fifteenth request: either it is in a
// step longer than their slots, or it makes steps without answering.
Outcome noise_beside_two_missed(const Scratch& scratch, bool in_a_long_step)
{
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    std::jthread training{[&](const std::stop_token& stop) {
        base::ControlPage& page = control.page();
        std::int64_t slot_end_ns = 0;
        for (int requests = 0; !stop.stop_requested(); ++page.step) {
            std::int64_t step_end_ns = base::now_ns() + 1'000'000;
            const bool wanted = base::request(page, base::now_ns()) == base::ControlRequest::loaders;
            if (wanted && std::exchange(slot_end_ns, page.slot_end_ns.load()) != page.slot_end_ns) {
                ++requests;
                const bool misses = requests == 5 || requests == 15;
                if (!misses) ++page.served;
                if (misses && in_a_long_step) step_end_ns = slot_end_ns + 1'000'000;
            }
            base::sleep_until_ns(step_end_ns);
        }
    }};
    Outcome outcome = testing::run(noise_words(scratch, "rotation(job.loaders; slot=30ms)"));
    training.request_stop();
    training.join();
    return outcome;
}

}  // namespace

TEST_CASE("a slot that passes within a step of the training is no request that was not taken up")
{
    const Scratch scratch;
    const Outcome outcome = noise_beside_two_missed(scratch, true);
    INFO(outcome.err);
    CHECK(outcome.status == 0);
}

TEST_CASE("two requests that a training has time for and does not take up are a promise not kept")
{
    const Scratch scratch;
    const Outcome outcome = noise_beside_two_missed(scratch, false);
    INFO(outcome.err);
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("requests that the training did not answer") != std::string::npos);
}
