// What recording costs: ns per event with a real time stamp, when recording is off, and beside OTF2's bare writer.
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/paired.hpp"
#include "base/testing.hpp"
#include "trace-tools/otf2/recorder.hpp"

#include <benchmark/benchmark.h>
#include <otf2/otf2.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace {

constexpr std::size_t pairs = 21;
constexpr int visits = 200'000;

double ns_per_event(otf2::LocationRecorder& location, otf2::RegionRef region)
{
    const std::int64_t begin_ns = base::now_ns();
    for (int i = 0; i < visits; ++i) {
        location.enter(region);
        location.leave(region);
    }
    return static_cast<double>(base::now_ns() - begin_ns) / (2.0 * visits);
}

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool)
{
    return OTF2_FLUSH;
}

// OTF2's own writer with a clock read an event, and nothing else: the least that recording can cost.
class BareWriter {
 public:
    explicit BareWriter(const std::filesystem::path& directory)
        : archive_{OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                     OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)}
    {
        static const OTF2_FlushCallbacks callbacks{.otf2_pre_flush = flush, .otf2_post_flush = nullptr};
        OTF2_Archive_SetFlushCallbacks(archive_, &callbacks, nullptr);
        OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
        OTF2_Archive_OpenEvtFiles(archive_);
        writer_ = OTF2_Archive_GetEvtWriter(archive_, 0);
    }
    ~BareWriter()
    {
        OTF2_Archive_CloseEvtWriter(archive_, writer_);
        OTF2_Archive_CloseEvtFiles(archive_);
        OTF2_Archive_Close(archive_);
    }
    BareWriter(const BareWriter&) = delete;
    BareWriter& operator=(const BareWriter&) = delete;

    double ns_per_event()
    {
        const std::int64_t begin_ns = base::now_ns();
        for (int i = 0; i < visits; ++i) {
            OTF2_EvtWriter_Enter(writer_, nullptr, static_cast<OTF2_TimeStamp>(base::now_ns()), 0);
            OTF2_EvtWriter_Leave(writer_, nullptr, static_cast<OTF2_TimeStamp>(base::now_ns()), 0);
        }
        return static_cast<double>(base::now_ns() - begin_ns) / (2.0 * visits);
    }

 private:
    OTF2_Archive* archive_;
    OTF2_EvtWriter* writer_ = nullptr;
};

void compare_with_bare_writer()
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    otf2::LocationRecorder& location = recorder.location("main");
    const otf2::RegionRef region = recorder.region("work");
    BareWriter bare{scratch / "bare"};
    const base::Paired cost = base::measure_in_pairs(
        pairs, [&] { return ns_per_event(location, region); }, [&] { return bare.ns_per_event(); });
    std::cout << "recorder, ns/event          " << cost.first.text() << "\n"
              << "bare OTF2 writer, ns/event  " << cost.second.text() << "\n"
              << "ratio of the pairs          " << cost.ratio.text() << "\n";
}

void one_event(benchmark::State& state)
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    otf2::LocationRecorder& location = recorder.location("main");
    const otf2::RegionRef region = recorder.region("work");
    for ([[maybe_unused]] auto round : state) {
        location.enter(region);
        location.leave(region);
    }
    state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(one_event)->Iterations(visits);

void one_event_with_attribute(benchmark::State& state)
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    otf2::LocationRecorder& location = recorder.location("main");
    const otf2::RegionRef region = recorder.region("work");
    const otf2::AttributeRef step = recorder.attribute("step", otf2::Type::uint64);
    for ([[maybe_unused]] auto round : state) {
        location.enter(region, {{step, 7}});
        location.leave(region);
    }
    state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(one_event_with_attribute)->Iterations(visits);

void recording_off(benchmark::State& state)
{
    otf2::Recorder recorder = otf2::Recorder::off();
    otf2::LocationRecorder& location = recorder.location("main");
    const otf2::RegionRef region = recorder.region("work");
    for ([[maybe_unused]] auto round : state) {
        location.enter(region);
        location.leave(region);
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(recording_off);

}  // namespace

int main(int argc, char** argv)
try {
    benchmark::Initialize(&argc, argv);
    compare_with_bare_writer();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return base::exit_fine;
} catch (...) {
    return base::report_failure("recorder-bench");
}
