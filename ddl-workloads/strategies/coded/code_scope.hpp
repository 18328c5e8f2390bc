// SPDX-License-Identifier: Apache-2.0
// A region of coded training whose CPU time is added up.
#pragma once

#include "base/system/clock.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <cstdint>

namespace ddl {

struct CodeRegion {
    otf2::RegionRef region{};
    std::int64_t cpu_ns = 0;  // of the main thread
};

class CodeScope {
 public:
    CodeScope(otf2::LocationRecorder& location, CodeRegion& region)
        : scope_{location, region.region}, region_{region}, begin_ns_{base::thread_cpu_ns()}
    {
    }
    ~CodeScope() { region_.cpu_ns += base::thread_cpu_ns() - begin_ns_; }
    CodeScope(const CodeScope&) = delete;
    CodeScope& operator=(const CodeScope&) = delete;

 private:
    otf2::Scope scope_;
    CodeRegion& region_;
    std::int64_t begin_ns_;
};

}  // namespace ddl
