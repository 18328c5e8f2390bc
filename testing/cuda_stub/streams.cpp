// SPDX-License-Identifier: Apache-2.0
#include "testing/cuda_stub/streams.hpp"

#include "testing/cuda_stub/timeline.hpp"

#include <algorithm>
#include <set>
#include <thread>

#include <pthread.h>
#include <signal.h>

namespace cuda_stub {

namespace {

struct AllStreams {
    std::mutex mutex;
    std::set<StubStream*> streams;
};

AllStreams& all_streams()
{
    static auto* const all = new AllStreams;
    return *all;
}

}  // namespace

// Blocks all signals in the stream's thread: they are for the program's threads.
StubStream::StubStream(int device) : device_{device}
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread{[this] { work(); }}.detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    const std::lock_guard lock{all_streams().mutex};
    all_streams().streams.insert(this);
}

void StubStream::close()
{
    {
        const std::lock_guard lock{all_streams().mutex};
        all_streams().streams.erase(this);
    }
    const std::lock_guard lock{mutex_};
    closing_ = true;
    changed_.notify_all();
}

void StubStream::work()
{
    while (const std::function<void()> next = take()) {
        next();
        const std::lock_guard lock{mutex_};
        working_ = false;
        changed_.notify_all();
    }
    delete this;
}

// Waits for the next task. Returns an empty function if closed and nothing is left.
std::function<void()> StubStream::take()
{
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return closing_ || !line_.empty(); });
    if (line_.empty()) return {};
    std::function<void()> next = std::move(line_.front());
    line_.pop_front();
    working_ = true;
    return next;
}

void StubStream::add(std::function<void()> work)
{
    const std::lock_guard lock{mutex_};
    line_.push_back(std::move(work));
    changed_.notify_all();
}

bool StubStream::idle()
{
    const std::lock_guard lock{mutex_};
    return line_.empty() && !working_;
}

void StubStream::wait_until_idle()
{
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return line_.empty() && !working_; });
}

void StubStream::wait_for_all_of(int device)
{
    const std::lock_guard lock{all_streams().mutex};
    for (StubStream* const stream : all_streams().streams)
        if (stream->device() == device) stream->wait_until_idle();
}

void StubEvent::record(StubStream& stream)
{
    std::unique_lock lock{mutex_};
    const std::int64_t recording = ++recorded_;
    lock.unlock();
    stream.add([this, recording] {
        const std::lock_guard held{mutex_};
        done_ = std::max(done_, recording);
        time_ns_ = now_ns();
        changed_.notify_all();
    });
}

bool StubEvent::done()
{
    const std::lock_guard lock{mutex_};
    return done_ >= recorded_;
}

std::int64_t StubEvent::recorded()
{
    const std::lock_guard lock{mutex_};
    return recorded_;
}

void StubEvent::wait_for(std::int64_t recording)
{
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return done_ >= recording; });
}

std::int64_t StubEvent::time_ns()
{
    const std::lock_guard lock{mutex_};
    return time_ns_;
}

}  // namespace cuda_stub
