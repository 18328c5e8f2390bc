// SPDX-License-Identifier: Apache-2.0
// Compares recorded GPU activity with CUDA's own events.
#include "base/error.hpp"
#include "ddl-workloads/models/gpu_clockwork.hpp"
#include "testing/testing.hpp"
#include "trace-tools/gpu/recording/gpu_recording.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace {

// Total time of the regions with a given name, over all locations.
class TimeIn : public otf2::Visitor {
 public:
    TimeIn(const otf2::Archive& archive, std::string region) : archive_{archive}, region_{std::move(region)} {}
    std::int64_t ns = 0;
    int visits = 0;

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        if (archive_.regions.at(region).name == region_) ns -= at.time_ns;
    }
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        if (archive_.regions.at(region).name != region_) return;
        ns += at.time_ns;
        ++visits;
    }

 private:
    const otf2::Archive& archive_;
    std::string region_;
};

}  // namespace

TEST_CASE("kernels take as long in the trace as between CUDA's events")
{
    if (base::cuda::devices() == 0) return testing::skip("no GPU");
    constexpr int kernels = 20;
    constexpr std::int64_t length_ns = 20'000'000;
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    std::unique_ptr<gpu::GpuRecording> recording;
    try {
        recording = std::make_unique<gpu::GpuRecording>(recorder);
    } catch (const base::Unavailable& error) {
        return testing::skip(error.what());
    }
    const base::cuda::Driver& driver = base::cuda::driver();
    double events_ms = 0.0;
    {
        ddl::GpuClockwork gpu{0};
        base::cuda::Event begin = nullptr;
        base::cuda::Event end = nullptr;
        base::cuda::check(driver.create_event(&begin, 0), "make an event");
        base::cuda::check(driver.create_event(&end, 0), "make an event");
        for (int i = 0; i < kernels; ++i) {
            base::cuda::check(driver.record_event(begin, nullptr), "record an event");
            gpu.begin_work(length_ns);
            base::cuda::check(driver.record_event(end, nullptr), "record an event");
            base::cuda::check(driver.synchronize_event(end), "wait for an event");
            float ms = 0.0F;
            base::cuda::check(driver.elapsed_ms(&ms, begin, end), "compare events");
            events_ms += static_cast<double>(ms);
        }
        driver.destroy_event(begin);
        driver.destroy_event(end);
    }
    const gpu::ActivitySummary done = recording->finish();
    recorder.finish();
    CHECK(done.dropped == 0);
    CHECK(done.before_launch == 0);
    CHECK(done.clock_error_ns < 100'000);
    otf2::Reader reader{scratch / "trace/traces.otf2"};
    TimeIn found{reader.archive(), "keep_busy_ns"};
    reader.read_by_location(found);
    CHECK(found.visits == kernels);
    MESSAGE("in the trace ", static_cast<double>(found.ns) / 1e6, " ms, by events ", events_ms, " ms, clocks within ",
            done.clock_error_ns, " ns");
    CHECK(static_cast<double>(found.ns) / 1e6 == doctest::Approx(events_ms).epsilon(0.01));
}
