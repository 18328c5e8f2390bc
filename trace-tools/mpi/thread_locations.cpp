// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/mpi/thread_locations.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/system/cpus.hpp"

#include <string>

#include <unistd.h>

namespace otf2 {

namespace {

Recorder::Placement bound_as_this_thread()
{
    return {.kind = LocationKind::cpu_thread,
            .accelerator = {},
            .properties = {{base::property::cpus, base::format_cpus(base::affinity_of(0))},
                           {base::property::thread, std::to_string(::gettid())}}};
}

}  // namespace

ThreadLocations::ThreadLocations(Recorder& recorder)
    : recorder_{recorder}, first_{recorder.location("Master thread", bound_as_this_thread())}
{
}

LocationRecorder* ThreadLocations::take() noexcept
try {
    const std::lock_guard lock{mutex_};
    if (!free_.empty()) {
        LocationRecorder* location = free_.back();
        free_.pop_back();
        return location;
    }
    if (left_out_) return nullptr;
    LocationRecorder& location = recorder_.location(base::join("thread ", made_));
    ++made_;
    free_.reserve(static_cast<std::size_t>(made_));
    return &location;
} catch (const std::exception&) {
    left_out_ = true;
    return nullptr;
}

// Does not allocate: take() has reserved the memory.
void ThreadLocations::give_back(LocationRecorder& location) noexcept
{
    const std::lock_guard lock{mutex_};
    free_.push_back(&location);
}

}  // namespace otf2
