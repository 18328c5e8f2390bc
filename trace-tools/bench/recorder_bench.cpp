// SPDX-License-Identifier: Apache-2.0
// Cost of recording, compared with the permitted cost, the clock and OTF2's bare writer: ns per event with a time
// stamp, the slowest of a thousand events, events while recording is off, and bytes in the file.
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/units.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <benchmark/benchmark.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <vector>

namespace {

constexpr std::size_t rounds = 801;  // short rounds, most of which are not interrupted
constexpr int visits = 1000;
constexpr std::size_t long_rounds = 21;
constexpr int many_visits = 100'000;

template <class Location>
double ns_per_event(Location& location, otf2::RegionRef region)
{
    const std::int64_t begin_ns = base::now_ns();
    for (int i = 0; i < visits; ++i) {
        location.enter(region);
        location.leave(region);
        benchmark::ClobberMemory();
    }
    return static_cast<double>(base::now_ns() - begin_ns) / (2.0 * visits);
}

double ns_per_look()
{
    const std::int64_t begin_ns = base::now_ns();
    for (int i = 0; i < 2 * visits; ++i) benchmark::DoNotOptimize(base::now_ns());
    return static_cast<double>(base::now_ns() - begin_ns) / (2.0 * visits);
}

// Cost of single events, each between two clock readings.
template <class Location>
double slowest_of_1000_ns(Location& location, otf2::RegionRef region)
{
    static std::vector<std::int64_t> costs(2 * many_visits);
    const auto measure = [&](std::int64_t& cost, const auto& event) {
        const std::int64_t begin_ns = base::now_ns();
        event();
        cost = base::now_ns() - begin_ns;
    };
    std::vector<std::int64_t> looks(1000);
    for (std::int64_t& look : looks) measure(look, [] {});
    std::nth_element(looks.begin(), looks.begin() + 500, looks.end());
    for (std::size_t i = 0; i < costs.size(); i += 2) {
        measure(costs[i], [&] { location.enter(region); });
        measure(costs[i + 1], [&] { location.leave(region); });
    }
    const auto slow = costs.begin() + static_cast<std::ptrdiff_t>(costs.size() * 999 / 1000);
    std::nth_element(costs.begin(), slow, costs.end());
    return static_cast<double>(*slow - looks[500]);
}

double bytes_per_event(const std::filesystem::path& archive, std::size_t events)
{
    std::uintmax_t bytes = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator{archive})
        if (file.path().extension() == ".evt") bytes += file.file_size();
    return static_cast<double>(bytes) / static_cast<double>(events);
}

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool)
{
    return OTF2_FLUSH;
}

// OTF2's own writer with one clock reading per event, and nothing else: the lower bound of the cost of recording.
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

    void enter(otf2::RegionRef region)
    {
        OTF2_EvtWriter_Enter(writer_, nullptr, static_cast<OTF2_TimeStamp>(base::now_ns()), region.id);
    }
    void leave(otf2::RegionRef region)
    {
        OTF2_EvtWriter_Leave(writer_, nullptr, static_cast<OTF2_TimeStamp>(base::now_ns()), region.id);
    }

 private:
    OTF2_Archive* archive_;
    OTF2_EvtWriter* writer_ = nullptr;
};

void tell(const std::string& measure, const std::string& found, double value, double at_most)
{
    std::cout << "| " << measure << " | " << found << " | " << at_most << " | " << (value <= at_most ? "yes" : "no")
              << " |\n";
}

void tell(const std::string& measure, const testing::Median& found, double at_most)
{
    tell(measure, found.text(), found.value, at_most);
}

void compare()
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    otf2::LocationRecorder& location = recorder.location("main");
    const otf2::RegionRef region = recorder.region("work");
    otf2::Recorder off = otf2::Recorder::off();
    BareWriter bare{scratch / "bare"};
    const testing::Paired cost = testing::measure_in_pairs(
        rounds, [&] { return ns_per_event(location, region); }, [&] { return ns_per_event(bare, region); });
    const testing::Paired switched_off = testing::measure_in_pairs(
        rounds, [&] { return ns_per_event(off.location("nowhere"), region); },
        [&] { return ns_per_event(location, region); });
    const testing::Paired clock = testing::measure_in_pairs(
        rounds, [] { return ns_per_look(); }, [&] { return ns_per_event(bare, region); });
    const testing::Paired slowest = testing::measure_in_pairs(
        long_rounds, [&] { return slowest_of_1000_ns(location, region); },
        [&] { return slowest_of_1000_ns(bare, region); });
    recorder.finish();
    const std::size_t events = 4 * visits * (rounds + 1) + 2 * many_visits * (long_rounds + 1);
    const double bytes = bytes_per_event(scratch / "trace", events);
    std::cout << "| measure | found | at most | holds |\n|---|---|---|---|\n";
    tell("recording an event, ns", cost.first, 45);
    tell("the slowest of 1000 events, ns", slowest.first, 200);
    tell("an event with recording switched off, ns", switched_off.first, 5);
    tell("bytes of an enter or leave", base::format(bytes), bytes, 12.5);
    std::cout << "the clock alone, ns              " << clock.first.text() << "\n"
              << "OTF2's bare writer, ns           " << cost.second.text() << "\n"
              << "ratio of the pairs               " << cost.ratio.text() << "\n"
              << "its slowest of 1000 events, ns   " << slowest.second.text() << "\n"
              << "ratio of the pairs               " << slowest.ratio.text() << "\n";
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
BENCHMARK(one_event)->Iterations(2 * many_visits);

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
BENCHMARK(one_event_with_attribute)->Iterations(2 * many_visits);

}  // namespace

int main(int argc, char** argv)
try {
    benchmark::Initialize(&argc, argv);
    compare();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return base::exit_fine;
} catch (...) {
    return base::report_failure("recorder-bench");
}
