// SPDX-License-Identifier: Apache-2.0
// Crosstalk's counters, published as PAPI events and read back through PAPI.
#include "trace-tools/otf2/write/counters.hpp"

#include "base/error.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

TEST_CASE("a published counter is read through PAPI")
{
    if (!otf2::counters_available()) {
        testing::skip("built without PAPI");
        return;
    }
    otf2::PublishedCounter bytes{"bytes_reduced", "bytes that left in gradient buckets"};
    otf2::PublishedCounter steps{"steps"};
    bytes.add(1000);  // before the reader exists: not counted
    otf2::CounterReader reader{{bytes.event(), steps.event()}};
    bytes.add(40);
    steps.add(1);
    CHECK(reader.read() == std::vector<std::int64_t>{40, 1});
    bytes.add(2);
    CHECK(reader.read() == std::vector<std::int64_t>{42, 1});
    CHECK(bytes.value() == 1042);
}

TEST_CASE("a counter that is published after PAPI has begun is read as well, and its source is named")
{
    if (!otf2::counters_available()) return testing::skip("built without PAPI");
    otf2::available_presets();
    otf2::PublishedCounter late{"late", "what comes late"};
    otf2::CounterReader reader{{late.event()}, otf2::CountedThreads::this_one_and_those_it_starts};
    late.add(5);
    CHECK(reader.read() == std::vector<std::int64_t>{5});
    REQUIRE(reader.events().size() == 1);
    CHECK(reader.events()[0].name == "sde:::crosstalk::late");
    CHECK(reader.events()[0].source == "PAPI SDE");
}

namespace {

// Returns the increase of each counter over some work.
std::vector<std::int64_t> growth(otf2::CounterReader& reader)
{
    const std::vector<std::int64_t> before = reader.read();
    volatile double sum = 0.0;
    for (int i = 0; i < 1'000'000; ++i) sum = sum + i;
    std::vector<std::int64_t> after = reader.read();
    for (std::size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
    return after;
}

}  // namespace

TEST_CASE("events of several components of PAPI are read in the order asked for")
{
    if (!otf2::counters_available()) return testing::skip("built without PAPI");
    otf2::PublishedCounter first{"first"};
    otf2::PublishedCounter second{"second"};
    try {
        otf2::CounterReader reader{{first.event(), "perf::TASK-CLOCK", second.event()}};
        first.add(1);
        second.add(2);
        const std::vector<std::int64_t> grown = growth(reader);
        CHECK(grown[0] == 0);
        CHECK(grown[1] > 0);
        CHECK(grown[2] == 0);
        CHECK(reader.read()[0] == 1);
        CHECK(reader.read()[2] == 2);
        CHECK(reader.events()[1].source == "PAPI native event");
    } catch (const base::Error& error) {
        testing::skip(error.what());
    }
}

TEST_CASE("presets of the processor grow with the work")
{
    const std::vector<std::string> presets = otf2::available_presets();
    if (presets.empty()) return testing::skip("PAPI finds no hardware counters");
    for (const std::string& preset : presets) {
        CHECK(preset.starts_with("PAPI_"));
        CHECK_NOTHROW(otf2::CounterReader{{preset}});
    }
    otf2::CounterReader reader{{"PAPI_TOT_INS", "PAPI_TOT_CYC"}, otf2::CountedThreads::this_one_and_those_it_starts};
    CHECK(growth(reader)[0] > 1'000'000);
    CHECK(growth(reader)[1] > 0);
    CHECK(reader.events()[0].source == "PAPI preset");
    CHECK(reader.events()[0].description != "");
}

TEST_CASE("publishing a name again gives the same counter")
{
    otf2::PublishedCounter first{"same"};
    first.add(3);
    otf2::PublishedCounter second{"same"};
    second.add(4);
    CHECK(first.value() == 7);
}

TEST_CASE("published counters are listed by name, with what they count")
{
    otf2::PublishedCounter errors{"listed_errors", "what went wrong"};
    errors.add(2);
    const std::vector<otf2::CounterAndText> all = otf2::published_counters();
    const auto found = std::ranges::find_if(all, [](const auto& one) { return one.counter.name() == "listed_errors"; });
    REQUIRE(found != all.end());
    CHECK(found->counter.value() == 2);
    CHECK(found->description == "what went wrong");
}

TEST_CASE("an event that this machine does not have is refused by name")
{
    if (!otf2::counters_available()) {
        CHECK_THROWS_AS(otf2::CounterReader{{"sde:::crosstalk::no_such_counter"}}, base::Unavailable);
        return;
    }
    try {
        otf2::CounterReader{{"PAPI_NO_SUCH_EVENT"}};
        FAIL("was accepted");
    } catch (const base::Error& error) {
        CHECK(std::string{error.what()}.find("cannot count PAPI_NO_SUCH_EVENT") == 0);
    }
}
