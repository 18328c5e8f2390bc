// SPDX-License-Identifier: Apache-2.0
// GPU activities in an archive, and their conversion to the trace's clock.
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"
#include "trace-tools/gpu/recording/activity_recorder.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>

#include <map>

namespace {

using gpu::Activity;
using gpu::ActivityKind;

const std::string convert_activities = std::string{CROSSTALK_BIN} + "/trace-convert";

// Regions that begin (+) and end (-), with their times, by location.
struct RowsOfStreams : otf2::Visitor {
    const otf2::Archive& archive;
    std::map<std::string, std::string> of;

    explicit RowsOfStreams(const otf2::Archive& of_archive) : archive{of_archive} {}
    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        of[archive.locations[at.location].name] += base::join("+", archive.regions[region].name, "@", at.time_ns, " ");
    }
    void leave(const otf2::At& at, std::uint32_t, const otf2::EventAttributes&) override
    {
        of[archive.locations[at.location].name] += base::join("-@", at.time_ns, " ");
    }
};

Activity kernel(const char* name, std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t correlation = 0)
{
    return {.kind = ActivityKind::kernel,
            .begin_ns = begin_ns,
            .end_ns = end_ns,
            .stream = 7,
            .correlation = correlation,
            .name = name};
}

// Records the activities that `give` adds, with `window` of them held back. Returns the rows read back, and the counts.
template <class Give>
std::pair<std::map<std::string, std::string>, gpu::ActivitySummary> rows_recorded(std::size_t window, const Give& give)
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace", std::make_unique<otf2::SoloTeam>(), "program"};
    gpu::ActivityRecorder activities{recorder, window};
    give(activities);
    const gpu::ActivitySummary summary = activities.finish();
    recorder.finish();
    otf2::Reader reader{scratch / "trace/traces.otf2"};
    RowsOfStreams rows{reader.archive()};
    reader.read(rows);
    CHECK(reader.problems().empty());
    return {rows.of, summary};
}

}  // namespace

TEST_CASE("a time between two looks at the clocks lies on the line between them, one outside on the nearest line")
{
    gpu::ClockConversion clock;
    CHECK(clock.to_trace(17) == 17);
    clock.add({.recorded_ns = 100, .trace_ns = 1000, .error_ns = 3});
    CHECK(clock.to_trace(40) == 940);
    clock.add({.recorded_ns = 200, .trace_ns = 1200, .error_ns = 5});
    CHECK(clock.to_trace(150) == 1100);
    CHECK(clock.to_trace(50) == 900);
    CHECK(clock.residual_ns() == 5);
    clock.add({.recorded_ns = 400, .trace_ns = 1300, .error_ns = 0});
    CHECK(clock.to_trace(300) == 1250);
    CHECK(clock.to_trace(500) == 1350);
    CHECK(clock.to_trace(150) == 1100);
    CHECK(clock.residual_ns() == 5 + 100);  // at 200 the line through the first and third look gives 1100
    clock.add({.recorded_ns = 450, .trace_ns = 1299, .error_ns = 0});
    CHECK(clock.left_out() == 1);
    CHECK(clock.to_trace(500) == 1350);
}

TEST_CASE("kernels of a stream that come out of order are in order in the archive")
{
    const auto [rows, summary] = rows_recorded(2, [](gpu::ActivityRecorder& activities) {
        activities.add(kernel("c", 50, 60));
        activities.add(kernel("a", 10, 20));
        activities.add(kernel("b", 30, 40));
        activities.add(kernel("d", 70, 80));
    });
    CHECK(rows.at("CUDA[0:7]") == "+a@10 -@20 +b@30 -@40 +c@50 -@60 +d@70 -@80 ");
    CHECK(summary.written == 4);
    CHECK(summary.late == 0);
    CHECK(summary.without_launch == 4);
}

TEST_CASE("a kernel that comes after more later ones than are kept back is left out and counted")
{
    const auto [rows, summary] = rows_recorded(2, [](gpu::ActivityRecorder& activities) {
        for (const std::int64_t begin_ns : {30, 50, 70, 90, 10}) activities.add(kernel("k", begin_ns, begin_ns + 5));
    });
    CHECK(rows.at("CUDA[0:7]") == "+k@30 -@35 +k@50 -@55 +k@70 -@75 +k@90 -@95 ");
    CHECK(summary.late == 1);
}

TEST_CASE("a kernel before its launch is a wrong clock, and is counted as that")
{
    const auto [rows, summary] = rows_recorded(10, [](gpu::ActivityRecorder& activities) {
        activities.add(kernel("early", 99, 120, 1));
        activities.add(kernel("fine", 130, 140, 2));
        const auto call = [&](std::int64_t begin_ns, std::uint32_t correlation) {
            activities.add(Activity{.kind = ActivityKind::call,
                                    .begin_ns = begin_ns,
                                    .end_ns = begin_ns + 10,
                                    .thread = 5,
                                    .correlation = correlation,
                                    .name = "cudaLaunchKernel"});
        };
        call(100, 1);
        call(115, 2);
    });
    CHECK(summary.before_launch == 1);
    CHECK(summary.without_launch == 0);
    CHECK(rows.at("CUDA calls of thread 5") == "+cudaLaunchKernel@100 -@110 +cudaLaunchKernel@115 -@125 ");
}

TEST_CASE("what a stream with little to do was asked is known however much the others do")
{
    const auto [rows, summary] = rows_recorded(4, [](gpu::ActivityRecorder& activities) {
        const auto ask = [&](std::uint32_t number, std::uint32_t stream) {
            const std::int64_t begin_ns = number * 100;
            activities.add({.kind = ActivityKind::call,
                            .begin_ns = begin_ns,
                            .end_ns = begin_ns + 5,
                            .thread = 3,
                            .correlation = number,
                            .name = "cudaLaunchKernel"});
            Activity done = kernel("gemm", begin_ns + 10, begin_ns + 90, number);
            done.stream = stream;
            activities.add(done);
        };
        ask(1, 13);
        for (std::uint32_t number = 2; number < 100; ++number) ask(number, 7);
        ask(100, 13);
    });
    CHECK(summary.without_launch == 0);
    CHECK(summary.late == 0);
    CHECK(rows.at("CUDA[0:13]") == "+gemm@110 -@190 +gemm@10010 -@10090 ");
}

TEST_CASE("kernels of a stream that overlap go to a location of their own")
{
    const auto [rows, summary] = rows_recorded(10, [](gpu::ActivityRecorder& activities) {
        activities.add(kernel("a", 10, 30));
        activities.add(kernel("b", 20, 40));
    });
    CHECK(rows.at("CUDA[0:7]") == "+a@10 -@30 ");
    CHECK(rows.at("CUDA[0:7] (overlap 1)") == "+b@20 -@40 ");
    CHECK(summary.nested.moved == 1);
}

TEST_CASE("a look at the clocks that comes late does not turn a stream back")
{
    const auto [rows, summary] = rows_recorded(1, [](gpu::ActivityRecorder& activities) {
        activities.add(gpu::ClockPair{.recorded_ns = 0, .trace_ns = 0, .error_ns = 0});
        activities.add(gpu::ClockPair{.recorded_ns = 100, .trace_ns = 200, .error_ns = 0});
        activities.add(kernel("a", 200, 210));
        activities.add(kernel("b", 220, 230));                                               // causes a to be written
        activities.add(gpu::ClockPair{.recorded_ns = 300, .trace_ns = 250, .error_ns = 0});  // converts 200 to 225
        activities.add(kernel("c", 300, 310));
    });
    CHECK(rows.at("CUDA[0:7]") == "+a@400 +b@400 -@400 +c@400 -@400 -@420 ");
    CHECK(summary.written == 3);
}

TEST_CASE("trace-info says what each stream of a GPU did, for how much of the trace, and what its recording lacks")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "made.jsonl",
                      R"({"kind":"call","name":"cudaLaunchKernel","begin_ns":1000000,"end_ns":2000000,"thread":5}
{"kind":"kernel","name":"a","begin_ns":2000000,"end_ns":4000000,"device":0,"stream":7}
{"kind":"kernel","name":"b","begin_ns":5000000,"end_ns":6000000,"device":0,"stream":7}
{"kind":"copy","name":"host to device","begin_ns":2000000,"end_ns":11000000,"device":1,"stream":13,"bytes":8}
{"kind":"dropped","records":4}
)");
    REQUIRE(testing::run({convert_activities, scratch / "made.jsonl", "-o", scratch / "out"}).status == 0);
    const testing::Outcome outcome =
        testing::run({std::string{CROSSTALK_BIN} + "/trace-info", scratch / "out/traces.otf2"});
    CHECK(outcome.status == 0);
    const std::size_t table = outcome.out.find("\nGPU streams\n");
    REQUIRE(table != std::string::npos);
    const std::string streams = outcome.out.substr(table, outcome.out.find("\n\n", table) - table);
    CHECK(streams.find("CUDA device 0 / CUDA[0:7]   made        2    3.000   30.00\n") != std::string::npos);
    CHECK(streams.find("CUDA device 1 / CUDA[1:13]  made        1    9.000   90.00\n") != std::string::npos);
    CHECK(streams.find("made; activities 4; ") != std::string::npos);
    CHECK(streams.find("; dropped 4; ") != std::string::npos);
}

TEST_CASE("trace-convert refuses activities that make no sense in one line, and leaves nothing behind")
{
    const std::string sound = R"({"kind":"kernel","name":"k","begin_ns":1,"end_ns":2,"device":0,"stream":7})";
    for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
             {"", "has no activities"},
             {sound + "\nx\n", "line 2 is not a JSON object"},
             {"[]", "line 1 is not a JSON object"},
             {R"({"kind":"kernle"})", "line 1 has no known \"kind\""},
             {R"({"kind":"kernel","name":"k","begin_ns":3,"end_ns":2,"device":0,"stream":7})", "ends before it begins"},
             {R"({"kind":"kernel","name":"k","begin_ns":-3,"end_ns":2,"device":0,"stream":7})",
              "with an invalid value: -3"},
             {R"({"kind":"kernel","name":"k","begin_ns":1,"end_ns":18446744073709551615,"device":0,"stream":7})",
              "has a \"end_ns\" with an invalid value"},
             {R"({"kind":"kernel","name":7,"begin_ns":1,"end_ns":2,"device":0,"stream":7})", "has no string \"name\""},
             {R"({"kind":"call","name":"k","begin_ns":1,"end_ns":2})", "has no integer \"thread\""}}) {
        CAPTURE(text);
        const testing::Scratch scratch;
        base::write_whole(scratch / "made.jsonl", text);
        const testing::Outcome outcome =
            testing::run({convert_activities, scratch / "made.jsonl", "-o", scratch / "new/out"});
        CHECK(outcome.status == 1);
        CHECK(outcome.err.find(why) != std::string::npos);
        CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
        CHECK(!std::filesystem::exists(scratch / "new"));
    }
}
