// Counters of our own, published for PAPI's tools and read back through PAPI.
#include "trace-tools/otf2/counters.hpp"

#include "base/error.hpp"
#include "base/testing.hpp"

#include <doctest/doctest.h>

TEST_CASE("a published counter is read through PAPI")
{
    if (!otf2::counters_available()) {
        testing::skip("built without PAPI");
        return;
    }
    otf2::PublishedCounter bytes{"bytes_reduced", "bytes that left in gradient buckets"};
    otf2::PublishedCounter steps{"steps"};
    bytes.add(1000);  // before the reader: does not count
    otf2::CounterReader reader{{bytes.event(), steps.event()}};
    bytes.add(40);
    steps.add(1);
    CHECK(reader.read() == std::vector<std::int64_t>{40, 1});
    bytes.add(2);
    CHECK(reader.read() == std::vector<std::int64_t>{42, 1});
    CHECK(bytes.value() == 1042);
}

TEST_CASE("publishing a name again gives the same counter")
{
    otf2::PublishedCounter first{"same"};
    first.add(3);
    otf2::PublishedCounter second{"same"};
    second.add(4);
    CHECK(first.value() == 7);
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
