#include "trace-tools/mpi/thread_locations.hpp"

#include "base/error.hpp"

namespace otf2 {

ThreadLocations::ThreadLocations(Recorder& recorder) : recorder_{recorder}, first_{recorder.location("Master thread")}
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

// Allocates nothing: take() has reserved the place.
void ThreadLocations::give_back(LocationRecorder& location) noexcept
{
    const std::lock_guard lock{mutex_};
    free_.push_back(&location);
}

}  // namespace otf2
