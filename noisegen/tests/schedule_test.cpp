// SPDX-License-Identifier: Apache-2.0
// The schedule language: texts that are accepted, and error messages for others.
#include "base/error.hpp"
#include "noisegen/schedule/parser.hpp"
#include "noisegen/stressors/registry.hpp"

#include <doctest/doctest.h>

namespace {

using namespace std::chrono_literals;
using noisegen::Blocks;
using noisegen::parse_schedule;
using noisegen::Schedule;
using noisegen::Sequence;
using noisegen::Treatment;

std::string complaint(const std::string& text)
{
    try {
        parse_schedule(text);
    } catch (const base::UsageError& error) {
        return error.what();
    }
    return {};
}

bool complains(const std::string& text, const std::string& of)
{
    const std::string reported = complaint(text);
    INFO(text, " -> ", reported);
    CHECK(reported.find(of) != std::string::npos);
    return reported.find('\n') == std::string::npos;
}

std::size_t count_quiet(const std::vector<Treatment>& treatments)
{
    return static_cast<std::size_t>(std::count(treatments.begin(), treatments.end(), Treatment{}));
}

}  // namespace

TEST_CASE("a sequence is a list of stressors and lengths")
{
    const Schedule schedule = parse_schedule("memory.stream 2s; io=io.write[block=4KiB] 500ms; quiet 1.5s;");
    const auto& slots = std::get<Sequence>(schedule.order).entries;
    REQUIRE(slots.size() == 3);
    CHECK(slots[0].length == 2s);
    CHECK(slots[1].length == 500ms);
    CHECK(slots[2].length == 1500ms);
    CHECK(schedule.levels[slots[1].treatment.at(0)].factor == "io");
    CHECK(slots[2].treatment.empty());
    CHECK(schedule.factors() == std::vector<std::string>{"memory.stream", "io"});
    CHECK(noisegen::name(schedule.design) == "sequence");
    const auto apart = std::get<Sequence>(parse_schedule("memory.stream 2 s; io.write[block=4KiB] 1.5  ms").order);
    REQUIRE(apart.entries.size() == 2);
    CHECK(apart.entries[0].length == 2s);
    CHECK(apart.entries[1].length == 1500us);
}

TEST_CASE("short words are sequences of seconds")
{
    const Schedule schedule = parse_schedule("M2N1.5S2");
    const auto& slots = std::get<Sequence>(schedule.order).entries;
    REQUIRE(slots.size() == 3);
    CHECK(schedule.factors() == std::vector<std::string>{"memory.stream", "network.exchange"});
    CHECK(slots[1].length == 1500ms);
    CHECK(slots[2].treatment.empty());
    CHECK(schedule.text == "M2N1.5S2");
    CHECK(parse_schedule("C1I1S1").factors() == std::vector<std::string>{"cpu.spin", "io.write"});
}

TEST_CASE("a rotation holds each factor once and quiet as often as the square root says")
{
    const Schedule schedule =
        parse_schedule("rotation(memory.stream, network.exchange, io.write, placebo; slot=250ms)");
    const auto& blocks = std::get<Blocks>(schedule.order);
    CHECK(blocks.treatments.size() == 6);
    CHECK(count_quiet(blocks.treatments) == 2);
    CHECK(blocks.slot == 250ms);
    CHECK(schedule.block_length() == 1500ms);
    CHECK(schedule.factors().back() == "placebo");
    CHECK(noisegen::name(schedule.design) == "rotation");
    CHECK(count_quiet(std::get<Blocks>(parse_schedule("rotation(placebo; quiet=3)").order).treatments) == 3);
    CHECK(std::get<Blocks>(parse_schedule("rotation(placebo)").order).slot == 1s);
}

TEST_CASE("each level of a factor is a treatment of its own and shares its stressor")
{
    const Schedule schedule = parse_schedule("rotation(mem=memory.stream[rate=4GiB/s|8GiB/s], placebo; slot=auto)");
    REQUIRE(schedule.levels.size() == 3);
    CHECK(schedule.levels[0].factor == "mem");
    CHECK(schedule.levels[0].level == "rate=4GiB/s");
    CHECK(schedule.levels[1].level == "rate=8GiB/s");
    CHECK(schedule.levels[1].intensity.rate->per_second == doctest::Approx(8.0 * (1 << 30)));
    CHECK(schedule.levels[0].stressor == schedule.levels[1].stressor);
    CHECK(schedule.stressors.size() == 2);
    CHECK(count_quiet(std::get<Blocks>(schedule.order).treatments) == 2);
    CHECK(schedule.needs_slot());
}

TEST_CASE("levels of another option make a stressor each")
{
    const Schedule schedule = parse_schedule("rotation(memory.stream[shape=triad|update])");
    CHECK(schedule.levels.size() == 2);
    CHECK(schedule.stressors.size() == 2);
}

TEST_CASE("a delay and its sham need each other in a design")
{
    CHECK_THROWS_WITH_AS(parse_schedule("rotation(memory.stream, placebo, control.delay; slot=1s)"),
                         doctest::Contains("control.delay and control.sham need each other"), base::UsageError);
    CHECK_THROWS_AS(parse_schedule("factorial(memory.stream, control.sham; slot=1s)"), base::UsageError);
    CHECK_NOTHROW(parse_schedule("control.delay 1s; quiet 1s"));
}

TEST_CASE("a factorial holds all combinations and controls alone")
{
    const Schedule schedule =
        parse_schedule("factorial(memory.stream, io.write, placebo, control.delay, control.sham; slot=1s)");
    const auto& treatments = std::get<Blocks>(schedule.order).treatments;
    CHECK(treatments.size() == 7);
    CHECK(count_quiet(treatments) == 1);
    CHECK(std::count(treatments.begin(), treatments.end(), Treatment{0, 1}) == 1);
    CHECK(std::count(treatments.begin(), treatments.end(), Treatment{2}) == 1);
    CHECK(std::count(treatments.begin(), treatments.end(), Treatment{3}) == 1);
    CHECK(schedule.with_own_cpus().size() == 2);
    CHECK(count_quiet(std::get<Blocks>(parse_schedule("factorial(cpu.spin; quiet=4)").order).treatments) == 4);
    const Schedule levels = parse_schedule("factorial(memory.stream[rate=1GiB/s|2GiB/s], io.write)");
    CHECK(std::get<Blocks>(levels.order).treatments.size() == 6);
}

TEST_CASE("two factors of one stressor are two stressors in a factorial and one elsewhere")
{
    const Schedule together = parse_schedule("factorial(a=memory.stream[rate=1GiB/s|2GiB/s], b=memory.stream)");
    REQUIRE(together.levels.size() == 3);
    CHECK(together.stressors.size() == 2);
    CHECK(together.with_own_cpus().size() == 2);
    CHECK(together.levels[0].stressor == together.levels[1].stressor);  // the levels of factor a
    CHECK(together.levels[0].stressor != together.levels[2].stressor);
    const Schedule alone = parse_schedule("rotation(a=memory.stream[rate=1GiB/s], b=memory.stream)");
    CHECK(alone.levels.size() == 2);
    CHECK(alone.stressors.size() == 1);
}

TEST_CASE("a ramp climbs from end to end and rests where its rate is zero")
{
    const Schedule schedule = parse_schedule("ramp(memory.stream; rate=0..4GiB/s; steps=5; hold=2s)");
    const auto& slots = std::get<Sequence>(schedule.order).entries;
    REQUIRE(slots.size() == 5);
    CHECK(slots[0].treatment.empty());
    CHECK(schedule.levels[slots[1].treatment.at(0)].level == "rate=1GiB/s");
    CHECK(schedule.levels[slots[4].treatment.at(0)].intensity.rate->per_second == doctest::Approx(4.0 * (1 << 30)));
    CHECK(schedule.stressors.size() == 1);
    const auto down = parse_schedule("ramp(io.write; rate=100/s..0; steps=3; hold=1s)");
    CHECK(std::get<Sequence>(down.order).entries.back().treatment.empty());
}

TEST_CASE("random shares add up")
{
    const Schedule schedule =
        parse_schedule("random(m=memory.stream[rate=1GiB/s]=25%, io.write=25%, quiet=50%; slot=200ms)");
    const auto& random = std::get<noisegen::RandomSlots>(schedule.order);
    CHECK(random.slot == 200ms);
    REQUIRE(random.shares.size() == 3);
    CHECK(schedule.levels[random.shares[0].treatment.at(0)].factor == "m");
    CHECK(random.shares[2].treatment.empty());
}

TEST_CASE("a wrong word gets the right words back on one line")
{
    CHECK(complains("memory.strem 1s", "did you mean memory.stream?"));
    CHECK(complains("rotaton(memory.stream)", "did you mean rotation?"));
    CHECK(complains("rotation(memory.stream; chp=1s)", "it has slot, quiet"));
    CHECK(complains("memory.stream[byts=1GiB] 1s", "it has bytes, shape, rate"));
    CHECK(complains("memory.stream[shape=tria] 1s", "did you mean triad?"));
    CHECK(complains("X2S2", "no stressor is called X"));
    CHECK(complains("MS2", "M lacks its seconds"));
}

TEST_CASE("malformed schedules are refused")
{
    CHECK(complains("", "empty"));
    CHECK(complains(";", "empty"));
    CHECK(complains("memory.stream", "no length"));
    CHECK(complains("memory.stream 2", "unit of time"));
    CHECK(complains("memory.stream 0s", "zero length"));
    CHECK(complains("M0S2", "zero length"));
    CHECK(complains("memory.stream 10us", "shorter than 1ms"));
    CHECK(complains("memory.stream -1s", "not a number"));
    CHECK(complains("memory.stream[ 1s", "["));
    CHECK(complains("memory.stream 1s; quiet[x=1] 1s", "quiet takes no label"));
    CHECK(complains("quiet=placebo 1s", "the label quiet is reserved"));
    CHECK(complains("rotation(", "is a ) missing"));
    CHECK(complains("rotation()", "names no stressor"));
    CHECK(complains("rotation(memory.stream,,placebo)", "nothing between two commas"));
    CHECK(complains("rotation(memory.stream, memory.stream)", "give them labels"));
    CHECK(complains("rotation(quiet, memory.stream)", "quiet is part of every block"));
    CHECK(complains("rotation(memory.stream; slot=0s)", "zero length"));
    CHECK(complains("rotation(memory.stream; quiet=0)", "not in 1 to 1000"));
    CHECK(complains("rotation(memory.stream; slot=1s; slot=2s)", "twice"));
    CHECK(complains("rotation(memory.stream[rate=1GiB/s|1GiB/s])", "twice"));
    CHECK(complains("rotation(memory.stream[rate=1GiB/s|2GiB/s,shape=copy|triad])", "one option may have levels"));
    CHECK(complains("memory.stream[rate=1GiB/s|2GiB/s] 1s", "only rotation(...) and factorial(...)"));
    CHECK(complains("a=memory.stream 1s; a=io.write 1s", "names two different stressors"));
    CHECK(complains("memory.stream[rate=0] 1s", "must be more than zero"));
    CHECK(complains("memory.stream[rate=5/s] 1s", "must be in bytes"));
    CHECK(complains("cpu.spin[rate=1GiB/s] 1s", "must be in operations"));
    CHECK(complains("placebo[rate=1GiB/s] 1s", "it has none"));
    CHECK(complains("io.write[block=1000B] 1s", "multiple of 4KiB"));
    CHECK(complains("io.write[size=1MiB,block=2MiB] 1s", "multiple of the block"));
    CHECK(complains("network.exchange[port=70000] 1s", "1 to 65535"));
    CHECK(complains("random(memory.stream=25%, quiet=50%)", "75%"));
    CHECK(complains("random(memory.stream, quiet=50%)", "has no share"));
    CHECK(complains("ramp(memory.stream)", "needs a rate"));
    CHECK(complains("ramp(memory.stream; rate=4GiB/s)", "not a range"));
    CHECK(complains("ramp(placebo; rate=0..4GiB/s)", "has no rate"));
    CHECK(complains("ramp(memory.stream; rate=0..0)", "never rises"));
    CHECK(
        complains("factorial(a=cpu.spin,b=cpu.spin,c=cpu.spin,d=cpu.spin,e=cpu.spin,f=cpu.spin,g=cpu.spin,h=cpu.spin,"
                  "i=cpu.spin,j=cpu.spin,k=cpu.spin,l=cpu.spin,m=cpu.spin)",
                  "combinations"));
}

TEST_CASE("every stressor on the registry stands in a schedule with its defaults")
{
    for (const std::string& name : noisegen::stressors().names()) {
        CAPTURE(name);
        CHECK_NOTHROW(parse_schedule(name + (name == "job.run" ? "[file=/bin/true]" : "") + " 1s"));
    }
}
