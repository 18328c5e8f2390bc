// SPDX-License-Identifier: Apache-2.0
// Modules and operators in the trace, inside the phases.
#include "ddl-workloads/instruments/details.hpp"

#include "base/error.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using ddl::DetailLevel;
using ddl::Details;

// Lists events as texts such as "main > conv seq 3" (enter) and "main < conv" (leave).
class Lines : public otf2::Visitor {
 public:
    explicit Lines(const otf2::Archive& archive) : archive_{archive} {}
    std::vector<std::string> lines;

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
    {
        std::string line = archive_.locations.at(at.location).name + " > " + archive_.regions.at(region).name;
        const auto seq = archive_.find_attribute("seq");
        if (seq && attributes.number(*seq)) line += " seq " + std::to_string(*attributes.number(*seq));
        lines.push_back(line);
    }
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        lines.push_back(archive_.locations.at(at.location).name + " < " + archive_.regions.at(region).name);
    }

 private:
    const otf2::Archive& archive_;
};

// The events that `work` records in step 3 of the phase clock.
template <class Work>
std::vector<std::string> recorded(DetailLevel level, const ddl::TraceSteps& steps, const Work& work)
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    otf2::LocationRecorder& main = recorder.location("main");
    Details details{recorder, main, level, steps};
    ddl::PhaseClock clock{recorder, main, nullptr};
    clock.listen(details);
    clock.begin_step(3);
    work(details, clock);
    clock.end_step();
    CHECK_FALSE(details.on());
    recorder.finish();
    otf2::Reader reader{scratch / "trace/traces.otf2"};
    Lines lines{reader.archive()};
    reader.read_by_location(lines);
    CHECK(reader.problems().empty());
    return lines.lines;
}

// Records a module that calls a convolution, which calls another operator.
void convolve(Details& details)
{
    const ddl::DetailScope block{&details, Details::Kind::module, "block"};
    details.enter(Details::Kind::operation, "conv2d", 7);
    details.enter_unseen();
    details.enter(Details::Kind::operation, "empty");
    details.leave();
    details.leave();
    details.leave();
}

using Text = std::vector<std::string>;

}  // namespace

TEST_CASE("level two shows operators that modules call and level three also those inside them")
{
    const auto work = [](Details& details, ddl::PhaseClock&) { convolve(details); };
    CHECK(recorded(DetailLevel::L2, {}, work) ==
          Text{"main > step", "main > block", "main > conv2d seq 0", "main < conv2d", "main < block", "main < step"});
    CHECK(recorded(DetailLevel::L3, {}, work) == Text{"main > step", "main > block", "main > conv2d seq 0",
                                                      "main > empty", "main < empty", "main < conv2d", "main < block",
                                                      "main < step"});
}

TEST_CASE("numbers that pair forward with backward begin anew in every step")
{
    const auto work = [](Details& details, ddl::PhaseClock& clock) {
        const auto operation = [&](std::int64_t sequence) {
            details.enter(Details::Kind::operation, "node", sequence);
            details.leave();
        };
        operation(70'000);
        operation(70'003);
        clock.end_step();
        clock.begin_step(4);
        operation(70'009);
        operation(70'010);
        operation(70'009);
    };
    const Text lines = recorded(DetailLevel::L2, {}, work);
    Text numbers;
    for (const std::string& line : lines)
        if (const std::size_t at = line.find(" seq "); at != std::string::npos) numbers.push_back(line.substr(at + 5));
    CHECK(numbers == Text{"0", "3", "0", "1", "0"});
}

TEST_CASE("steps that were not asked for show no details")
{
    const auto work = [](Details& details, ddl::PhaseClock&) {
        const ddl::DetailScope block{&details, Details::Kind::module, "block"};
    };
    CHECK(recorded(DetailLevel::L1, {.first = 3, .end = 4}, work).size() == 4);
    CHECK(recorded(DetailLevel::L1, {.first = 0, .end = 3}, work).size() == 2);
    CHECK(recorded(DetailLevel::L1, {.first = 1, .every = 3}, work).size() == 2);
    CHECK(recorded(DetailLevel::L0, {}, work).size() == 2);
}

TEST_CASE("what is open when a phase ends ends with it")
{
    const auto work = [](Details& details, ddl::PhaseClock& clock) {
        clock.enter(ddl::Phase::backward);
        details.enter(Details::Kind::operation, "node", 9);
        clock.enter(ddl::Phase::wait_exchange);
        details.enter(Details::Kind::operation, "inside", 9);
        details.leave();
        details.leave();
        details.enter(Details::Kind::operation, "next", 10);
        details.leave();
    };
    CHECK(recorded(DetailLevel::L3, {}, work) == Text{"main > step", "main > backward", "main > node seq 0",
                                                      "main < node", "main < backward", "main > wait_exchange",
                                                      "main > inside", "main < inside", "main > next seq 1",
                                                      "main < next", "main < wait_exchange", "main < step"});
}

TEST_CASE("a name that lies where another one lay is distinguished")
{
    const auto work = [](Details& details, ddl::PhaseClock&) {
        std::string name = "first";
        for (const char* next : {"other", "first"}) {
            details.enter(Details::Kind::operation, name.c_str());
            details.leave();
            name.assign(next);
        }
        details.enter(Details::Kind::operation, name.c_str());
        details.leave();
    };
    CHECK(recorded(DetailLevel::L2, {}, work) == Text{"main > step", "main > first", "main < first", "main > other",
                                                      "main < other", "main > first", "main < first", "main < step"});
}

TEST_CASE("other threads have locations of their own")
{
    const auto work = [](Details& details, ddl::PhaseClock&) {
        std::thread{[&details] {
            details.enter(Details::Kind::operation, "node");
            details.leave();
        }}.join();
    };
    const Text lines = recorded(DetailLevel::L2, {}, work);
    REQUIRE(lines.size() == 4);
    CHECK(lines[2].starts_with("operators of "));
    CHECK(lines[2].ends_with(" > node"));
}

TEST_CASE("levels and steps are read as they are written")
{
    for (const char* level : {"L0", "L1", "L2", "L3"}) CHECK(text(ddl::parse_detail_level(level)) == level);
    CHECK_THROWS_AS(ddl::parse_detail_level("L4"), base::UsageError);
    const ddl::TraceSteps some = ddl::parse_trace_steps("100:200:10");
    CHECK_FALSE(some.contains(99));
    CHECK(some.contains(100));
    CHECK_FALSE(some.contains(101));
    CHECK(some.contains(190));
    CHECK_FALSE(some.contains(200));
    CHECK(ddl::parse_trace_steps("").contains(5));
    for (const char* wrong : {"5", "5:5", "1:9:0", "1:2:3:4", "-1:4", "a:b"})
        CHECK_THROWS_AS(ddl::parse_trace_steps(wrong), base::UsageError);
}
