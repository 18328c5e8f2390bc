// SPDX-License-Identifier: Apache-2.0
// GPU recording of an unmodified program: with a CUPTI stub, and with NVIDIA's CUPTI on a machine without a GPU.
#include "base/error.hpp"
#include "testing/programs.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>

namespace fs = std::filesystem;

namespace {

#ifdef CROSSTALK_PRELOAD_FIRST
const std::string before_ours = CROSSTALK_PRELOAD_FIRST;
#else
const std::string before_ours;
#endif
const fs::path cupti_library = testing::bin / "../lib/libcrosstalk-cupti.so";
const fs::path cupti_of_ours = testing::bin / "../tests/libfake-cupti.so";

bool can_record_gpus()
{
    const bool can = fs::exists(cupti_library) && testing::run({"sh", "-c", "command -v mpirun"}).status == 0;
    if (!can) testing::skip("no CUPTI, or no MPI");
    return can;
}

// Runs mpi-threads on two ranks under trace-record, with `cupti` preloaded unless it is empty.
testing::Outcome trace_two_ranks(const fs::path& out, const std::string& cupti, std::vector<std::string> environment)
{
    std::vector<std::string> words{"env", "ASAN_OPTIONS=detect_leaks=0"};
    const std::string colon = before_ours.empty() || cupti.empty() ? "" : ":";
    if (!(before_ours + cupti).empty()) words.push_back("LD_PRELOAD=" + before_ours + colon + cupti);
    words.insert(words.end(), environment.begin(), environment.end());
    const std::vector<std::string> job{"mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none"};
    words.insert(words.end(), job.begin(), job.end());
    const std::vector<std::string> program{testing::bin / "trace-record", "-o", out, "--",
                                           testing::bin / "../tests/mpi-threads"};
    words.insert(words.end(), program.begin(), program.end());
    return testing::run(words);
}

// Number of GPU slices by location and region, and their starts.
struct SlicesOfGpus : otf2::Visitor {
    const otf2::Archive& archive;
    std::map<std::string, std::map<std::string, int>> count;
    std::map<std::uint64_t, std::map<std::string, std::int64_t>> begin_ns;  // by correlation id and region; rank 0 only

    explicit SlicesOfGpus(const otf2::Archive& of_archive) : archive{of_archive} {}
    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
    {
        const otf2::Region& what = archive.regions[region];
        if (what.paradigm != otf2::Paradigm::cuda) return;
        const otf2::Location& where = archive.locations[at.location];
        const otf2::Process& process = archive.processes[where.process];
        const std::uint32_t rank = process.accelerator ? process.creator : where.process;
        ++count[base::join(rank, " ", where.name)][what.name];
        const auto correlation = attributes.number(archive.find_attribute("correlation").value());
        if (rank == 0 && correlation) begin_ns[*correlation][what.name] = at.time_ns;
    }
};

}  // namespace

TEST_CASE("CROSSTALK_TRACE_GPU=1 puts what CUPTI records on the trace's clock beside the MPI calls of each rank")
{
    if (!can_record_gpus()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome =
        trace_two_ranks(scratch / "traced", cupti_of_ours, {"CROSSTALK_TRACE_GPU=1", "FAKE_CUPTI_LAUNCHES=50000"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    otf2::Reader reader{scratch / "traced/traces.otf2"};
    const otf2::Archive& archive = reader.archive();
    SlicesOfGpus slices{archive};
    reader.read(slices);
    CHECK(reader.problems().empty());
    for (const std::string rank : {"0 ", "1 "}) {
        CHECK(slices.count[rank + "CUDA[0:7]"]["gemm(float const*, int)"] == 25000);
        CHECK(slices.count[rank + "CUDA[0:13]"]["gemm(float const*, int)"] == 25000);
        CHECK(slices.count[rank + "CUDA[0:20]"]["memcpy host to device"] == 1);
        CHECK(slices.count[rank + "CUDA calls of thread 42"]["cudaLaunchKernel"] == 50000);
        CHECK(slices.count[rank + "CUDA calls of thread 42"]["cudaStreamSynchronize"] == 1);
    }
    int after_launch = 0;
    for (const auto& [correlation, begins] : slices.begin_ns) {
        const auto kernel = begins.find("gemm(float const*, int)");
        const auto launch = begins.find("cudaLaunchKernel");
        if (kernel != begins.end() && launch != begins.end()) after_launch += kernel->second >= launch->second ? 1 : 0;
    }
    CHECK(after_launch == 50000);
    const auto& properties = archive.processes[0].properties;
    CHECK(properties.at("crosstalk::gpu_dropped") == "3");  // the number of buffers is bounded
    CHECK(properties.at("crosstalk::gpu_before_launch") == "0");
    // The clocks differ by an hour. Converted, the kernels lie at the MPI calls: the trace is shorter than 10 minutes.
    CHECK(archive.clock.length_ns < 600'000'000'000);
}

TEST_CASE("where CUPTI cannot record, one line of a rank says so and the trace is as without")
{
    if (!can_record_gpus()) return;
    for (const std::string& cupti : {cupti_of_ours.string(), std::string{}}) {
        if (cupti.empty() && fs::exists("/dev/nvidiactl")) continue;
        CAPTURE(cupti);
        const testing::Scratch scratch;
        const testing::Outcome outcome = trace_two_ranks(scratch / "traced", cupti, {"CROSSTALK_TRACE_GPU=1"});
        CHECK(outcome.status == 0);
        const std::size_t line = outcome.err.find("libcrosstalk-mpi: no GPU activities: CUPTI cannot record: ");
        CHECK(line != std::string::npos);
        CHECK(outcome.err.find("no GPU activities", line + 30) == std::string::npos);
        CHECK(fs::exists(scratch / "traced/traces.otf2"));
    }
}

TEST_CASE("CROSSTALK_TRACE_GPU is 1 or 0")
{
    if (!can_record_gpus()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = trace_two_ranks(scratch / "traced", cupti_of_ours, {"CROSSTALK_TRACE_GPU=yes"});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.find("CROSSTALK_TRACE_GPU is 1 or 0, not yes") != std::string::npos);
    CHECK(fs::exists(scratch / "traced/traces.otf2"));
}
