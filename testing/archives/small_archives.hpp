// SPDX-License-Identifier: Apache-2.0
// Paths of archives of other tools, and a small archive of our own.
#pragma once

#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <filesystem>

namespace testing {

// Records a small archive for tests that damage it; returns its directory.
inline std::filesystem::path small_archive(const Scratch& scratch)
{
    otf2::Recorder recorder{scratch / "trace"};
    const otf2::RegionRef region = recorder.region("work");
    for (const char* name : {"one", "two"}) {
        otf2::LocationRecorder& location = recorder.location(name);
        for (int i = 0; i < 1000; ++i) {
            location.enter(region);
            location.leave(region);
        }
    }
    recorder.finish();
    return scratch / "trace";
}

}  // namespace testing
