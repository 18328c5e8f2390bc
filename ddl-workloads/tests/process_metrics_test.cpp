// SPDX-License-Identifier: Apache-2.0
// Counters of a process, and their sources.
#include "ddl-workloads/instruments/process_metrics.hpp"

#include "base/error.hpp"
#include "ddl-workloads/instruments/software_events.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/counters.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr int rests = 20;

// Each sleep causes a context switch, to another thread or to idle.
void rest()
{
    for (int i = 0; i < rests; ++i) std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

constexpr int pages = 200;

// The first access to each page causes a page fault.
void touch_pages()
{
    const auto bytes = static_cast<std::size_t>(pages * ::getpagesize());
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    ::madvise(memory, bytes, MADV_NOHUGEPAGE);
    auto* const first = static_cast<volatile char*>(memory);
    for (int page = 0; page < pages; ++page) first[page * ::getpagesize()] = 1;
    ::munmap(memory, bytes);
}

std::vector<std::string> names(const ddl::ProcessMetrics& metrics)
{
    std::vector<std::string> names;
    for (const ddl::Metric& metric : metrics.metrics()) names.push_back(metric.name);
    return names;
}

bool perf_is_allowed()
{
    try {
        const ddl::SoftwareEventCounts trial{{"task-clock"}};
        return true;
    } catch (const base::Unavailable&) {
        return false;
    }
}

}  // namespace

TEST_CASE("the kernel's events are counted of threads that there are and of those to come")
{
    if (!perf_is_allowed()) return testing::skip("perf_event_open is not allowed");
    std::latch counting{1};
    std::thread earlier{[&counting] {
        counting.wait();
        rest();
    }};
    ddl::ProcessMetrics metrics{"perf::context-switches,task-clock,minor-faults"};
    counting.count_down();
    earlier.join();
    CHECK(metrics.read().at(0) >= rests);
    std::thread{rest}.join();
    touch_pages();
    const std::vector<std::int64_t> values = metrics.read();
    CHECK(names(metrics) == std::vector<std::string>{"context-switches", "task-clock", "minor-faults"});
    CHECK(values.at(0) >= 2 * rests);
    CHECK(values.at(1) > 0);
    CHECK(values.at(2) >= pages);
    for (const ddl::Metric& metric : metrics.metrics()) CHECK(metric.source == "perf software event");
}

TEST_CASE("getrusage reports the same of most of the kernel's events")
{
    const std::vector<std::string> asked{"context-switches", "minor-faults", "task-clock", "major-faults"};
    const std::vector<std::int64_t> before = ddl::resource_usage(asked);
    std::thread{rest}.join();
    touch_pages();
    const std::vector<std::int64_t> after = ddl::resource_usage(asked);
    CHECK(after[0] - before[0] >= rests);
    CHECK(after[1] - before[1] >= pages);
    CHECK(after[2] >= before[2]);
    CHECK_FALSE(ddl::find_software_event("cpu-migrations")->in_resource_usage);
    CHECK(ddl::find_software_event("page-faults") == nullptr);
}

TEST_CASE("what there is to count has a source, and what is missing a reason")
{
    ddl::ProcessMetrics metrics{"auto"};
    CHECK(metrics.read().size() == metrics.metrics().size());
    CHECK(metrics.metrics().size() >= 4);
    for (const ddl::Metric& metric : metrics.metrics()) {
        CHECK_FALSE(metric.source.empty());
        CHECK(ddl::text(metric).ends_with("(source: " + metric.source + ")"));
    }
    const auto left_out = [&metrics](const std::string& what) {
        return std::any_of(metrics.left_out().begin(), metrics.left_out().end(),
                           [&what](const std::string& line) { return line.starts_with(what + ": "); });
    };
    CHECK(left_out("PAPI presets") == otf2::available_presets().empty());
    CHECK(left_out("perf software events") == !perf_is_allowed());
    CHECK(ddl::to_json(metrics.metrics())[0].contains("source"));
}

TEST_CASE("nothing is counted if nothing is asked for")
{
    ddl::ProcessMetrics metrics{"none"};
    CHECK(metrics.metrics().empty());
    CHECK(metrics.read().empty());
}

TEST_CASE("an event that cannot be counted is refused with those that can")
{
    const auto refused = [](const std::string& choice) -> std::string {
        try {
            const ddl::ProcessMetrics metrics{choice};
        } catch (const base::UsageError& error) {
            return error.what();
        }
        return "accepted";
    };
    const std::string wrong = refused("task-clock,context-switch");
    CHECK(wrong.find("context-switch") != std::string::npos);
    CHECK(wrong.find("did you mean context-switches?") != std::string::npos);
    CHECK(wrong.find("available on this machine: task-clock, context-switches") != std::string::npos);
    CHECK(refused("task-clock,task-clock").find("twice") != std::string::npos);
    CHECK(refused("task-clock,perf::task-clock").find("twice") != std::string::npos);
    CHECK(refused("") != "accepted");
    CHECK(refused("auto,task-clock") != "accepted");
}
