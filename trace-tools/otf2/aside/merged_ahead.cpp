// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/aside/merged_ahead.hpp"

namespace otf2 {

void MergedAhead::read(Visitor& visitor)
{
    struct End {  // also runs if the visitor throws
        MergedAhead& all;
        ~End()
        {
            const std::scoped_lock lock{all.mutex_};
            all.ended_ = true;
            all.changed_.notify_all();
        }
    };
    const End end{*this};
    for (std::unique_lock lock{mutex_};; ++visited_, changed_.notify_all()) {
        while (merged_ == visited_ && !ended_) {
            if (merging_)
                changed_.wait(lock);
            else
                merge(lock);
        }
        if (merged_ == visited_) break;
        lock.unlock();
        in_order_.visit(chunks_[visited_ % chunks_.size()], visitor);
        lock.lock();
    }
    if (failure_) std::rethrow_exception(failure_);
}

bool MergedAhead::help()
{
    std::unique_lock lock{mutex_};
    if (merging_ || ended_ || !has_room()) return false;
    merge(lock);
    return true;
}

void MergedAhead::help_all()
{
    for (std::unique_lock lock{mutex_}; !ended_;) {
        if (merging_ || !has_room())
            changed_.wait(lock);
        else
            merge(lock);
    }
}

// Unlocks while it works.
void MergedAhead::merge(std::unique_lock<std::mutex>& lock)
{
    merging_ = true;
    Spill::Merge::Chunk& chunk = chunks_[merged_ % chunks_.size()];
    lock.unlock();
    bool any = false;
    std::exception_ptr failure;
    try {
        any = in_order_.next(chunk);
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    merging_ = false;
    if (any)
        ++merged_;
    else
        ended_ = true;
    if (failure) failure_ = failure;
    changed_.notify_all();
}

}  // namespace otf2
