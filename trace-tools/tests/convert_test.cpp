// SPDX-License-Identifier: Apache-2.0
// End-to-end tests of trace-convert.
#include "base/files.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <doctest/doctest.h>

#include <map>

namespace fs = std::filesystem;

namespace {

const std::string trace_convert = std::string{CROSSTALK_BIN} + "/trace-convert";

struct SlicesOfRows : otf2::Visitor {
    const otf2::Archive& archive;
    std::map<std::string, std::string> of;  // by location

    explicit SlicesOfRows(const otf2::Archive& of_archive) : archive{of_archive} {}
    void add(const otf2::At& at, const std::string& what)
    {
        of[archive.locations[at.location].name] += what + "@" + std::to_string(at.time_ns) + " ";
    }
    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        add(at, "+" + archive.regions[region].name);
    }
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        add(at, "-" + archive.regions[region].name);
    }
};

testing::Outcome convert_text(const testing::Scratch& scratch, const std::string& text)
{
    base::write_whole(scratch / "kineto.json", text);
    return testing::run({trace_convert, scratch / "kineto.json", "-o", scratch / "new/out"});
}

}  // namespace

TEST_CASE("trace-convert makes locations of threads and CUDA streams, and nests their events")
{
    const testing::Scratch scratch;
    const testing::Outcome outcome = convert_text(scratch, R"({"traceEvents": [
        {"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"GPU 1"}},
        {"ph":"X","cat":"cpu_op","name":"inner","pid":0,"tid":5,"ts":12,"dur":3,"args":{"External id":4}},
        {"ph":"X","cat":"user_annotation","name":"step","pid":0,"tid":5,"ts":10,"dur":10.5},
        {"ph":"X","cat":"cuda_runtime","name":"late","pid":0,"tid":5,"ts":20,"dur":2,"args":{"correlation":9}},
        {"ph":"X","cat":"kernel","name":"ncclKernel_AllReduce","pid":1,"tid":7,"ts":11.25,"dur":4}
        ], "baseTimeNanoseconds": 1000000})");
    CHECK(outcome.status == 0);
    CHECK(outcome.err == "");
    CHECK(outcome.out.find("overlapping events: 1 on separate rows, 0 cut\n") != std::string::npos);

    otf2::Reader reader{scratch / "new/out/traces.otf2"};
    SlicesOfRows lines{reader.archive()};
    reader.read(lines);
    CHECK(reader.problems().empty());
    CHECK(lines.of == std::map<std::string, std::string>{
                          {"thread 5", "+step@1010000 +inner@1012000 -inner@1015000 -step@1020500 "},
                          {"thread 5 (overlap 1)", "+late@1020000 -late@1022000 "},
                          {"stream 7", "+ncclKernel_AllReduce@1011250 -ncclKernel_AllReduce@1015250 "}});
    const otf2::Archive& archive = reader.archive();
    REQUIRE(archive.processes.size() == 2);
    CHECK(archive.processes[1].name == "GPU 1");
    const otf2::Region& nccl = archive.regions[archive.find_region("ncclKernel_AllReduce").value()];
    CHECK(nccl.role == otf2::RegionRole::all_to_all);
    CHECK(nccl.paradigm == otf2::Paradigm::cuda);
}

TEST_CASE("trace-convert keeps every nanosecond of times since 1970")
{
    const testing::Scratch scratch;
    REQUIRE(convert_text(scratch, R"([
        {"ph":"X","name":"a","pid":1,"tid":1,"ts":1763987654321987.123,"dur":0.001},
        {"ph":"X","name":"b","pid":1,"tid":1,"ts":1763987654321987.126,"dur":3.333}])")
                .status == 0);
    otf2::Reader reader{scratch / "new/out/traces.otf2"};
    SlicesOfRows lines{reader.archive()};
    reader.read(lines);
    CHECK(lines.of.at("thread 1") ==
          "+a@1763987654321987123 -a@1763987654321987124 +b@1763987654321987126 -b@1763987654321990459 ");
}

TEST_CASE("trace-convert makes an accelerator of a device, and keeps what joins launches and kernels")
{
    const testing::Scratch scratch;
    const std::string text = R"([
        {"ph":"M","name":"process_name","pid":9,"tid":0,"args":{"name":"python"}},
        {"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"GPU 0"}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":5,"ts":1,"dur":2,
         "args":{"correlation":7}},
        {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":20,"ts":4,"dur":3,
         "args":{"correlation":7,"External id":3}},
        {"ph":"s","cat":"ac2g","name":"ac2g","id":7,"pid":9,"tid":5,"ts":1},
        {"ph":"f","cat":"ac2g","name":"ac2g","id":7,"pid":0,"tid":20,"ts":4,"bp":"e"}])";
    REQUIRE(convert_text(scratch, text).status == 0);

    struct Joined : otf2::Visitor {
        const otf2::Archive& archive;
        std::map<std::string, std::string> of;
        explicit Joined(const otf2::Archive& of_archive) : archive{of_archive} {}
        void enter(const otf2::At&, std::uint32_t region, const otf2::EventAttributes& attributes) override
        {
            for (const char* name : {"correlation", "External id", "flow.ac2g"})
                if (const auto number = attributes.number(archive.find_attribute(name).value()))
                    of[archive.regions[region].name] += std::string{name} + "=" + std::to_string(*number) + " ";
        }
    };
    otf2::Reader reader{scratch / "new/out/traces.otf2"};
    const otf2::Archive& archive = reader.archive();
    Joined joined{archive};
    reader.read(joined);
    CHECK(joined.of["cudaLaunchKernel"] == "correlation=7 flow.ac2g=7 ");
    CHECK(joined.of["gemm"] == "correlation=7 External id=3 flow.ac2g=7 ");
    REQUIRE(archive.processes.size() == 2);
    CHECK(archive.processes[0].name == "python");
    CHECK(archive.processes[1].name == "GPU 0");
    CHECK(archive.processes[1].accelerator);
    CHECK(archive.processes[1].creator == 0);
    const otf2::Location& stream = archive.locations.back();
    CHECK(stream.name == "stream 20");
    CHECK(stream.kind == otf2::LocationKind::accelerator_stream);
    CHECK(stream.process == 1);
    CHECK(stream.properties.at("crosstalk::stream") == "20");

    const fs::path file = scratch / "perfetto.json";
    REQUIRE(testing::run({trace_convert, scratch / "new/out/traces.otf2", "--perfetto", file}).status == 0);
    const std::string written = base::read_whole(file);
    CHECK(written.find(R"({"ph": "s", "cat": "launch", "name": "launch", "id": 7, "pid": 2)") != std::string::npos);
    CHECK(written.find(R"({"ph": "f", "cat": "launch", "name": "launch", "id": 7, "bp": "e", "pid": 3)") !=
          std::string::npos);
}

TEST_CASE("trace-convert takes a list of events, as PyTorch without Kineto writes it")
{
    const testing::Scratch scratch;
    CHECK(convert_text(scratch, R"([{"ph":"X","name":"a","pid":"CPU","tid":1,"ts":1,"dur":2,"args":{}}])").status == 0);
}

TEST_CASE("trace-convert refuses bad input in one line and leaves nothing behind")
{
    for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
             {"x", "is not valid JSON"},
             {R"({"traceEvents":[{"ph":"X")", "is not valid JSON"},
             {R"({"traceEvents":[{"ph":"X","ts":NaN,"dur":1}]})", "has no numeric \"ts\""},
             {"{}", "has no complete events"},
             {"7", "is not a trace of PyTorch's profiler"},
             {"\x1f\x8b\x08", "is compressed, and damaged or cut off"},
             {R"({"traceEvents":[{"ph":"X","ts":1}]})", "has no numeric \"dur\""},
             {R"({"traceEvents":[{"ph":"X","ts":1,"dur":-1}]})", "has a negative duration"},
             {R"({"traceEvents":[{"ph":"X","ts":-1,"dur":1}]})", "before the time 0"},
             {R"({"traceEvents":[{"ph":"X","ts":1e300,"dur":1}]})", "has an invalid time"}}) {
        CAPTURE(text);
        const testing::Scratch scratch;
        const testing::Outcome outcome = convert_text(scratch, text);
        CHECK(outcome.status == 1);
        CHECK(outcome.err.find(why) != std::string::npos);
        CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
        CHECK(!fs::exists(scratch / "new"));
    }
}

TEST_CASE("trace-convert wants to know where the archive goes, and overwrites nothing")
{
    const testing::Scratch scratch;
    CHECK(testing::run({trace_convert, scratch / "x.json"}).status == 2);
    CHECK(testing::run({trace_convert, scratch / "traces.otf2", "-o", scratch / "new"}).err.find("--perfetto FILE") !=
          std::string::npos);
    fs::create_directory(scratch / "new");
    fs::create_directory(scratch / "new/out");
    CHECK(convert_text(scratch, "[]").status == 2);
}

TEST_CASE("trace-convert writes slices and counters of an archive for Perfetto")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace", std::make_unique<otf2::SoloTeam>(), "noise"};
    otf2::LocationRecorder& main = recorder.location("cpu \"4\"");
    const otf2::RegionRef region = recorder.region("memory");
    main.enter(region, 1'000'000);
    main.metric(recorder.metric("achieved", "B/s", otf2::Type::real), 5.5, 1'000'250);
    main.leave(region, 1'002'001);
    recorder.finish();
    const fs::path file = scratch / "perfetto.json";
    const std::vector<std::string> words{trace_convert, scratch / "trace/traces.otf2", "--perfetto", file};
    REQUIRE(testing::run(words).status == 0);
    CHECK(base::read_whole(file) == R"({"displayTimeUnit": "ns", "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 2, "tid": 1, "args": {"name": "noise"}},
{"ph": "M", "name": "thread_name", "pid": 2, "tid": 1, "args": {"name": "cpu \"4\""}},
{"ph": "B", "name": "memory", "pid": 2, "tid": 1, "ts": 0.000},
{"ph": "C", "name": "achieved", "pid": 2, "tid": 1, "ts": 0.250, "args": {"value": 5.5}},
{"ph": "E", "pid": 2, "tid": 1, "ts": 2.001}
]}
)");
    CHECK(testing::run(words).status == 2);  // existing output is not overwritten
    CHECK(testing::run({trace_convert, scratch / "none.otf2", "--perfetto", scratch / "other.json"}).status == 1);
    CHECK(!fs::exists(scratch / "other.json.tmp"));
    CHECK(testing::run({trace_convert, scratch / "none.otf2", "--perfetto", "a", "-o", "b"}).status == 2);
}
