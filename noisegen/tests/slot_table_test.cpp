// SPDX-License-Identifier: Apache-2.0
// The slot table: complete, balanced in blocks, and the same for the same seed.
#include "noisegen/schedule/slot_table.hpp"

#include "noisegen/schedule/parser.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <sstream>

namespace {

using namespace std::chrono_literals;
using noisegen::parse_schedule;
using noisegen::Schedule;
using noisegen::Slot;
using noisegen::slot_table;

std::string printed(const Schedule& schedule, std::uint64_t seed, base::Nanoseconds duration)
{
    std::ostringstream out;
    noisegen::print(out, schedule, slot_table(schedule, seed, duration));
    return out.str();
}

}  // namespace

TEST_CASE("a sequence repeats and its last slot is cut at the duration")
{
    CHECK(printed(parse_schedule("memory.stream[rate=1GiB/s] 2s; quiet 1s"), 1, 5s) ==
          "slot,block,position,begin_ns,end_ns,treatment\n"
          "0,0,0,0,2000000000,memory.stream\n"
          "1,0,1,2000000000,3000000000,quiet\n"
          "2,1,0,3000000000,5000000000,memory.stream\n");
}

TEST_CASE("slots follow each other without a gap up to the duration")
{
    for (const char* text :
         {"M2S2", "rotation(memory.stream,io.write,placebo;slot=300ms)",
          "factorial(cpu.spin,memory.stream,placebo;slot=70ms)", "random(memory.stream=50%,quiet=50%;slot=110ms)",
          "ramp(memory.stream;rate=0..4GiB/s;steps=3;hold=900ms)"}) {
        CAPTURE(text);
        const std::vector<Slot> table = slot_table(parse_schedule(text), 7, 10s);
        base::Nanoseconds at{};
        for (const Slot& slot : table) {
            CHECK(slot.begin == at);
            CHECK(slot.end > slot.begin);
            at = slot.end;
        }
        CHECK(at == 10s);
    }
}

TEST_CASE("each block of a rotation holds each level once and quiet as often as it should")
{
    const Schedule schedule =
        parse_schedule("rotation(mem=memory.stream[rate=1GiB/s|2GiB/s],io.write,placebo;slot=100ms)");
    std::map<std::uint64_t, std::map<std::string, int>> blocks;
    for (const Slot& slot : slot_table(schedule, 5, 60s)) ++blocks[slot.block][text(schedule, slot.treatment)];
    CHECK(blocks.size() == 100);
    for (const auto& [block, counts] : blocks)
        CHECK(counts ==
              std::map<std::string, int>{
                  {"mem[rate=1GiB/s]", 1}, {"mem[rate=2GiB/s]", 1}, {"io.write", 1}, {"placebo", 1}, {"quiet", 2}});
}

TEST_CASE("each block of a factorial holds each combination once")
{
    const Schedule schedule = parse_schedule("factorial(cpu.spin,io.write,placebo;slot=100ms)");
    std::map<std::uint64_t, std::multiset<std::string>> blocks;
    for (const Slot& slot : slot_table(schedule, 5, 5s)) blocks[slot.block].insert(text(schedule, slot.treatment));
    CHECK(blocks.size() == 10);
    for (const auto& [block, treatments] : blocks)
        CHECK(treatments ==
              std::multiset<std::string>{"quiet", "cpu.spin", "io.write", "cpu.spin+io.write", "placebo"});
}

TEST_CASE("the order of blocks is random and each order about equally frequent")
{
    const Schedule schedule = parse_schedule("rotation(cpu.spin,placebo;slot=100ms;quiet=1)");
    std::map<std::string, int> orders;
    std::map<std::uint64_t, std::string> blocks;
    for (const Slot& slot : slot_table(schedule, 1, 1800s)) blocks[slot.block] += text(schedule, slot.treatment) + " ";
    for (const auto& [block, order] : blocks) ++orders[order];
    CHECK(orders.size() == 6);
    for (const auto& [order, count] : orders) {
        CHECK(count > 850);  // expected 1000 of 6000, standard deviation 29
        CHECK(count < 1150);
    }
}

TEST_CASE("the same seed gives the same table byte by byte and another seed another")
{
    const Schedule schedule = parse_schedule("rotation(memory.stream,io.write,network.exchange,placebo;slot=1s)");
    CHECK(printed(schedule, 42, 120s) == printed(schedule, 42, 120s));
    CHECK(printed(schedule, 42, 120s) != printed(schedule, 43, 120s));
}

TEST_CASE("a seed means the same slots on every machine and in every version")
{
    const Schedule schedule = parse_schedule("rotation(a=cpu.spin,b=placebo,c=io.write;slot=1s)");
    std::string order;
    for (const Slot& slot : slot_table(schedule, 2026, 10s)) order += text(schedule, slot.treatment) + " ";
    CHECK(order == "quiet c quiet a b c quiet a b quiet ");
}

TEST_CASE("random slots take their shares of the time")
{
    const Schedule schedule = parse_schedule("random(memory.stream=25%,quiet=75%;slot=100ms)");
    const std::vector<Slot> table = slot_table(schedule, 3, 1000s);
    const auto quiet =
        std::count_if(table.begin(), table.end(), [](const Slot& slot) { return slot.treatment.empty(); });
    CHECK(quiet > 7300);  // 10000 draws, standard deviation 43
    CHECK(quiet < 7700);
}

TEST_CASE("more slots than a table can hold are refused")
{
    CHECK_THROWS_WITH_AS(slot_table(parse_schedule("cpu.spin 1ms"), 1, base::Nanoseconds{1000000h}),
                         doctest::Contains("more than 10000000 slots"), base::UsageError);
}
