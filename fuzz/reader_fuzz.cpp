// SPDX-License-Identifier: Apache-2.0
// Replaces a file of a small archive (the first byte selects it) by any bytes: trace-info describes the archive, or
// prints a one-line error. Crashes inside OTF2's library are not our bugs; -fork=1 -ignore_crashes=1 continues after
// them.
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/profile/summary.hpp"

#include <sstream>

namespace {

class SmallArchive {
 public:
    SmallArchive()
    {
        otf2::Recorder recorder{scratch_ / "trace"};
        const otf2::RegionRef region = recorder.region("step");
        const otf2::MetricRef metric = recorder.metric("rate", "B/s", otf2::Type::real);
        otf2::LocationRecorder& location = recorder.location("one");
        location.enter(region, 1000);
        location.metric(metric, 0.5, 2000);
        location.leave(region, 3000);
        recorder.finish();
        for (const char* name : {"traces.otf2", "traces.def", "traces/0.def", "traces/0.evt"})
            files_.emplace_back(scratch_ / "trace" / name, base::read_whole(scratch_ / "trace" / name));
    }

    std::filesystem::path anchor() const { return files_.front().first; }

    void replace(std::size_t number, std::string_view content)
    {
        for (const auto& [path, whole] : files_) base::write_whole(path, whole);
        base::write_whole(files_[number % files_.size()].first, content);
    }

 private:
    testing::Scratch scratch_;
    std::vector<std::pair<std::filesystem::path, std::string>> files_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static SmallArchive archive;
    if (size == 0) return 0;
    archive.replace(data[0], {reinterpret_cast<const char*>(data + 1), size - 1});
    try {
        otf2::Reader reader{archive.anchor()};
        otf2::Profile profile{reader.archive()};
        reader.read(profile);
        profile.finish();
        std::ostringstream out;
        const otf2::Summary summary = otf2::summary(reader, profile);
        otf2::write_text(out, summary);
        otf2::write_json(out, summary);
    } catch (const base::Error&) {
    }
    return 0;
}
