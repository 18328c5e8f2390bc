// SPDX-License-Identifier: Apache-2.0
// GPU activity in steps, and the critical path across hosts and streams, compared with numbers calculated by hand.
#include "base/csv.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>

namespace fs = std::filesystem;
using otf2::Paradigm;
using otf2::RegionRole;

namespace {

// Records a process with GPUs. The events of a location must be added in time order.
class GpuProgram {
 public:
    GpuProgram(const fs::path& directory, Paradigm paradigm) : paradigm_{paradigm}, recorder_{directory} {}

    otf2::LocationRecorder& host(const std::string& name, const std::string& thread = "")
    {
        otf2::Recorder::Placement placement;
        if (!thread.empty()) placement.properties = {{"crosstalk::thread", thread}};
        return recorder_.location(name, placement);
    }
    otf2::LocationRecorder& stream(const std::string& name, const std::string& device)
    {
        return recorder_.location(name, {.kind = otf2::LocationKind::accelerator_stream,
                                         .accelerator = device,
                                         .properties = {{"crosstalk::stream", name.substr(name.find(':') + 1, 1)}}});
    }
    void enter(otf2::LocationRecorder& at, const std::string& region, std::int64_t ns)
    {
        at.enter(recorder_.region(region), ns);
    }
    void leave(otf2::LocationRecorder& at, const std::string& region, std::int64_t ns)
    {
        at.leave(recorder_.region(region), ns);
    }
    void enter_step(otf2::LocationRecorder& at, int number, std::int64_t ns)
    {
        at.enter(recorder_.region("step"), ns, {{recorder_.attribute("step", otf2::Type::uint64), number}});
    }
    void phase(otf2::LocationRecorder& at, const std::string& region, std::int64_t begin_ns, std::int64_t end_ns)
    {
        enter(at, region, begin_ns);
        leave(at, region, end_ns);
    }
    void call(otf2::LocationRecorder& at, const std::string& what, std::int64_t begin_ns, std::int64_t end_ns,
              int correlation)
    {
        work(at, (paradigm_ == Paradigm::hip ? "hip" : "cuda") + what, RegionRole::wrapper, begin_ns, end_ns,
             correlation);
    }
    void kernel(otf2::LocationRecorder& at, const std::string& name, std::int64_t begin_ns, std::int64_t end_ns,
                int correlation)
    {
        work(at, name, name.starts_with("nccl") ? RegionRole::all_to_all : RegionRole::function, begin_ns, end_ns,
             correlation);
    }
    void copy(otf2::LocationRecorder& at, std::int64_t begin_ns, std::int64_t end_ns, int correlation)
    {
        work(at, "memcpy host to device", RegionRole::data_transfer, begin_ns, end_ns, correlation);
    }
    void finish() { recorder_.finish(); }

 private:
    void work(otf2::LocationRecorder& at, const std::string& name, RegionRole role, std::int64_t begin_ns,
              std::int64_t end_ns, int correlation)
    {
        const otf2::RegionRef region = recorder_.region(name, role, paradigm_);
        const otf2::AttributeRef joins = recorder_.attribute("correlation", otf2::Type::int64);
        if (correlation > 0)
            at.enter(region, begin_ns, {{joins, correlation}});
        else
            at.enter(region, begin_ns);
        at.leave(region, end_ns);
    }

    Paradigm paradigm_;
    otf2::Recorder recorder_;
};

testing::Outcome waits_of(const testing::Scratch& scratch)
{
    testing::Outcome outcome =
        testing::run({CROSSTALK_BIN "/trace-waits", scratch / "made/traces.otf2", "-o", scratch / "waits"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return outcome;
}

using GpuRow = std::map<std::string, std::int64_t>;

// Returns the rows of gpu_steps.csv for the device, by step.
std::map<std::int64_t, GpuRow> steps_of(const testing::Scratch& scratch, const std::string& device)
{
    std::map<std::int64_t, GpuRow> steps;
    const base::CsvTable table{scratch / "waits/gpu_steps.csv"};
    for (std::size_t row = 0; row < table.rows(); ++row) {
        if (table.text(row, "device") != device) continue;
        GpuRow& step = steps[table.get<std::int64_t>(row, "step")];
        for (const std::string& column : table.columns())
            if (column != "device") step[column] = table.get<std::int64_t>(row, column);
        std::int64_t causes = 0;
        for (const auto& [column, ns] : step)
            if (column.starts_with("idle_") && column != "idle_ns") causes += ns;
        CHECK(causes == step["idle_ns"]);
        CHECK(step["busy_ns"] + step["idle_ns"] == step["wall_ns"]);
    }
    return steps;
}

void check(const GpuRow& row, const GpuRow& expected)
{
    for (const auto& [column, value] : expected) CHECK_MESSAGE(row.at(column) == value, column);
}

// Step 0 has every idle cause but `unknown`, step 1 no kernel, step 2 only overlap; its kernel continues into step 3,
// which begins with a host delay.
void make_four_steps(const fs::path& directory, Paradigm paradigm, const std::string& prefix)
{
    GpuProgram program{directory, paradigm};
    otf2::LocationRecorder& main = program.host("main");
    otf2::LocationRecorder& compute = program.stream(prefix + "[0:7]", prefix + " device 0");
    otf2::LocationRecorder& exchange = program.stream(prefix + "[0:9]", prefix + " device 0");
    program.enter_step(main, 0, 0);
    program.phase(main, "load", 0, 100);
    program.call(main, "LaunchKernel", 100, 120, 1);
    program.call(main, "LaunchKernel", 120, 140, 2);
    program.call(main, "LaunchKernel", 500, 550, 3);
    program.call(main, "StreamSynchronize", 560, 720, 0);
    program.call(main, "MemcpyAsync", 720, 730, 4);
    program.call(main, "LaunchKernel", 730, 735, 5);
    program.leave(main, "step", 1000);
    program.enter_step(main, 1, 1000);
    program.phase(main, "wait_exchange", 1100, 1200);
    program.call(main, "LaunchKernel", 1400, 1450, 6);
    program.call(main, "LaunchKernel", 1450, 1460, 7);
    program.leave(main, "step", 1500);
    program.enter_step(main, 2, 1500);
    program.leave(main, "step", 2000);
    program.enter_step(main, 3, 2000);
    program.phase(main, "control_delay", 2000, 2150);
    program.call(main, "LaunchKernel", 2160, 2170, 8);
    program.leave(main, "step", 2200);
    program.kernel(exchange, "ncclDevKernel_AllReduce", 300, 600, 2);
    program.kernel(exchange, "ncclDevKernel_AllReduce", 1600, 1900, 7);
    program.kernel(compute, "gemm", 150, 400, 1);
    program.kernel(compute, "relu", 620, 700, 3);
    program.copy(compute, 740, 800, 4);
    program.kernel(compute, "gemm", 810, 900, 5);
    program.kernel(compute, "gemm", 1500, 2100, 6);
    program.kernel(compute, "gemm", 2180, 2300, 8);
    program.finish();
}

void check_four_steps(std::map<std::int64_t, GpuRow> steps)
{
    REQUIRE(steps.size() == 4);
    check(steps[0], {{"wall_ns", 1000},
                     {"busy_ns", 250 + 80 + 90},
                     {"exchange_ns", 300},
                     {"exchange_overlapped_ns", 100},
                     {"copy_ns", 60},
                     {"copy_overlapped_ns", 0},
                     {"copy_in_exchange_ns", 0},
                     {"idle_input_ns", 100},
                     {"idle_launch_ns", 20 + 15},
                     {"idle_queued_ns", 30 + 20 + 5 + 10},
                     {"idle_exchange_ns", 200},
                     {"idle_host_wait_ns", 20},
                     {"idle_copy_ns", 60},
                     {"idle_nothing_ns", 100},
                     {"idle_unknown_ns", 0},
                     {"kernels", 4},
                     {"launched", 4},
                     {"launch_delay_p50_ns", 70},  // median of 30, 70, 75 and 160
                     {"launch_delay_p95_ns", 160},
                     {"launch_delay_most_ns", 160},
                     {"host_delay_ns", 0}});
    check(steps[1], {{"busy_ns", 0}, {"idle_exchange_ns", 100}, {"idle_nothing_ns", 400}, {"kernels", 0}});
    check(steps[2], {{"busy_ns", 500},
                     {"exchange_ns", 300},
                     {"exchange_overlapped_ns", 300},
                     {"kernels", 2},
                     {"launch_delay_p50_ns", 50},
                     {"launch_delay_most_ns", 140}});
    check(steps[3], {{"wall_ns", 200},
                     {"busy_ns", 120},
                     {"idle_launch_ns", 70},
                     {"idle_queued_ns", 10},
                     {"kernels", 1},
                     {"launch_delay_p50_ns", 10},
                     {"host_delay_ns", 150},
                     {"host_delay_covered_ns", 100}});
}

// Runs trace-path. Returns the ns in path.csv, by region.
std::map<std::string, double> path_of(const testing::Scratch& scratch)
{
    const testing::Outcome outcome =
        testing::run({CROSSTALK_BIN "/trace-path", scratch / "made/traces.otf2", "-o", scratch / "path"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    std::map<std::string, double> ns;
    const base::CsvTable table{scratch / "path/path.csv"};
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const double seconds = table.get<double>(row, "seconds");
        if (seconds > 0.0) ns[table.text(row, "region")] += seconds * 1e9;
    }
    return ns;
}

void check_path(const std::map<std::string, double>& found, const std::map<std::string, double>& expected)
{
    CHECK(found.size() == expected.size());
    for (const auto& [region, ns] : expected) {
        CAPTURE(region);
        REQUIRE(found.contains(region));
        CHECK(found.at(region) == doctest::Approx(ns));
    }
}

double early_blocking_wait_ns(const testing::Scratch& scratch)
{
    double seconds = 0.0;
    const base::CsvTable table{scratch / "waits/waits.csv"};
    for (std::size_t row = 0; row < table.rows(); ++row)
        if (table.text(row, "pattern") == "gpu_early_blocking_wait") seconds += table.get<double>(row, "seconds");
    return seconds * 1e9;
}

}  // namespace

TEST_CASE("each instant in which a GPU does not compute has one cause, whatever made the GPU")
{
    const testing::Scratch cuda;
    make_four_steps(cuda / "made", Paradigm::cuda, "CUDA");
    const testing::Outcome said = waits_of(cuda);
    check_four_steps(steps_of(cuda, "CUDA device 0"));
    CHECK(said.out.find("1 GPU in 4 steps") != std::string::npos);
    CHECK(said.out.find("host delay 0.000000 s, 66.7 % of it while the GPU computed") != std::string::npos);
    const testing::Scratch hip;
    make_four_steps(hip / "made", Paradigm::hip, "HIP");
    waits_of(hip);
    check_four_steps(steps_of(hip, "HIP device 0"));
    CHECK(early_blocking_wait_ns(cuda) == doctest::Approx(700 - 560));
    CHECK(early_blocking_wait_ns(hip) == doctest::Approx(700 - 560));
}

TEST_CASE("two GPUs of a process are two rows, and kernels need not run in the order of their launches")
{
    const testing::Scratch scratch;
    GpuProgram program{scratch / "made", Paradigm::cuda};
    otf2::LocationRecorder& main = program.host("main");
    otf2::LocationRecorder& other = program.host("autograd");
    otf2::LocationRecorder& first = program.stream("CUDA[0:7]", "CUDA device 0");
    otf2::LocationRecorder& late = program.stream("CUDA[0:8]", "CUDA device 0");
    otf2::LocationRecorder& second = program.stream("CUDA[1:7]", "CUDA device 1");
    program.enter_step(main, 0, 0);
    program.call(main, "LaunchKernel", 0, 10, 1);   // runs last, from 300 on
    program.call(main, "LaunchKernel", 10, 20, 2);  // runs first, from 50 on
    program.call(main, "LaunchKernel", 20, 30, 3);  // on the other GPU
    program.call(main, "DeviceSynchronize", 30, 400, 0);
    program.leave(main, "step", 500);
    program.call(other, "LaunchKernel", 200, 250, 4);  // late, by another thread, while this one synchronises
    program.kernel(first, "a", 50, 100, 2);
    program.kernel(first, "a", 300, 400, 1);
    program.kernel(late, "b", 260, 350, 4);
    program.kernel(second, "c", 40, 140, 3);
    program.kernel(second, "d", 200, 220, 99);  // no launch is recorded
    program.finish();
    waits_of(scratch);
    std::map<std::int64_t, GpuRow> zero = steps_of(scratch, "CUDA device 0");
    check(zero[0], {{"busy_ns", 50 + 140},
                    {"idle_launch_ns", 20 + 150},
                    {"idle_queued_ns", 30 + 10},
                    {"idle_host_wait_ns", 0},  // the waiting thread is not the launching one
                    {"idle_nothing_ns", 100},
                    {"kernels", 3},
                    {"launched", 3},
                    {"launch_delay_p50_ns", 30},  // median of 10, 30 and 290
                    {"launch_delay_most_ns", 290}});
    std::map<std::int64_t, GpuRow> one = steps_of(scratch, "CUDA device 1");
    check(one[0], {{"busy_ns", 120},
                   {"idle_launch_ns", 30},
                   {"idle_queued_ns", 10},
                   {"idle_unknown_ns", 60},
                   {"idle_nothing_ns", 280},
                   {"kernels", 2},
                   {"launched", 1}});
}

TEST_CASE("the critical path goes from a launch to its kernel, and from the kernel to who waits for it")
{
    const testing::Scratch scratch;
    GpuProgram program{scratch / "made", Paradigm::hip};
    otf2::LocationRecorder& main = program.host("main");
    otf2::LocationRecorder& stream = program.stream("HIP[0:7]", "HIP device 0");
    program.enter(main, "train", 0);
    program.call(main, "LaunchKernel", 100, 120, 1);
    program.call(main, "LaunchKernel", 120, 140, 2);
    program.call(main, "StreamSynchronize", 200, 650, 0);
    program.call(main, "StreamSynchronize", 700, 710, 0);  // nothing to wait for
    program.leave(main, "train", 1000);
    program.kernel(stream, "gemm", 150, 400, 1);
    program.kernel(stream, "relu", 410, 600, 2);  // launched long before: waits for its stream
    program.finish();
    waits_of(scratch);
    CHECK(early_blocking_wait_ns(scratch) == doctest::Approx(400));
    check_path(path_of(scratch), {{"train", 100 + 50 + 290},
                                  {"hipLaunchKernel", 20},
                                  {"(outside of regions)", 30 + 10},  // launch latency, and the gap between the kernels
                                  {"gemm", 250},
                                  {"relu", 190},
                                  {"hipStreamSynchronize", 50 + 10}});
}

TEST_CASE("a kernel that was launched late is on the path of the host that launched it late")
{
    const testing::Scratch scratch;
    GpuProgram program{scratch / "made", Paradigm::cuda};
    otf2::LocationRecorder& main = program.host("main");
    otf2::LocationRecorder& stream = program.stream("CUDA[0:7]", "CUDA device 0");
    program.enter(main, "train", 0);
    program.call(main, "LaunchKernel", 0, 10, 1);
    program.phase(main, "slow", 10, 300);
    program.call(main, "LaunchKernel", 300, 320, 2);
    program.call(main, "DeviceSynchronize", 320, 460, 0);
    program.leave(main, "train", 500);
    program.kernel(stream, "gemm", 20, 120, 1);
    program.kernel(stream, "relu", 315, 450, 2);  // begins during its launch call
    program.finish();
    waits_of(scratch);
    CHECK(early_blocking_wait_ns(scratch) == doctest::Approx(130));
    check_path(
        path_of(scratch),
        {{"cudaLaunchKernel", 10 + 15}, {"slow", 290}, {"relu", 135}, {"cudaDeviceSynchronize", 10}, {"train", 40}});
}

TEST_CASE("calls that are recorded on a location of their own are on the path of their thread")
{
    const testing::Scratch scratch;
    GpuProgram program{scratch / "made", Paradigm::cuda};
    otf2::LocationRecorder& main = program.host("main", "42");
    otf2::LocationRecorder& calls = program.host("CUDA calls of thread 42");
    otf2::LocationRecorder& others = program.host("CUDA calls of thread 43");
    otf2::LocationRecorder& stream = program.stream("CUDA[0:7]", "CUDA device 0");
    program.enter(main, "train", 0);
    program.leave(main, "train", 1000);
    program.call(calls, "LaunchKernel", 100, 120, 1);
    program.call(calls, "StreamSynchronize", 200, 650, 0);
    program.call(calls, "Free", 1010, 1020, 2);  // after all regions of its thread
    program.call(others, "GetDevice", 300, 310, 3);
    program.kernel(stream, "gemm", 150, 600, 1);
    program.finish();
    waits_of(scratch);
    check_path(path_of(scratch), {{"train", 120 + 50 + 350}, {"(outside of regions)", 30 + 20}, {"gemm", 450}});
}

TEST_CASE("an archive without GPUs has no table of them")
{
    const testing::Scratch scratch;
    GpuProgram program{scratch / "made", Paradigm::cuda};
    otf2::LocationRecorder& main = program.host("main");
    program.enter_step(main, 0, 0);
    program.call(main, "DeviceSynchronize", 10, 20, 0);
    program.leave(main, "step", 100);
    program.finish();
    const testing::Outcome said = waits_of(scratch);
    CHECK(said.out.find("GPU") == std::string::npos);
    CHECK_FALSE(fs::exists(scratch / "waits/gpu_steps.csv"));
}
