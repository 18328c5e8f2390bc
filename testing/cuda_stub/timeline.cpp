// SPDX-License-Identifier: Apache-2.0
#include "testing/cuda_stub/timeline.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cuda_stub {

namespace {

struct State {
    std::array<std::array<std::atomic<std::int64_t>, engines>, most_devices> busy_until;
    std::array<std::atomic<std::int64_t>, most_devices> bytes;
};

// Maps the file CUDA_STUB_STATE, or memory of this process if it is not set. New state is all zeros.
State* mapped_state()
{
    const char* const file = std::getenv("CUDA_STUB_STATE");
    const int descriptor = file != nullptr ? ::open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (file != nullptr && (descriptor < 0 || ::ftruncate(descriptor, sizeof(State)) != 0)) {
        std::fprintf(stderr, "CUDA stub: cannot use %s\n", file);
        std::abort();
    }
    const int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* const memory = ::mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, flags, descriptor, 0);
    if (descriptor >= 0) ::close(descriptor);
    if (memory == MAP_FAILED) std::abort();
    return static_cast<State*>(memory);
}

State& state()
{
    static State* const all = mapped_state();
    return *all;
}

struct Counter {
    std::mutex mutex;
    Counts counts;
};

Counter& counter()
{
    static auto* const only = new Counter;  // outlives every thread
    return *only;
}

__attribute__((destructor)) void write_log()
{
    const char* const file = std::getenv("CUDA_STUB_LOG");
    std::FILE* const log = file != nullptr ? std::fopen(file, "a") : nullptr;
    if (log == nullptr) return;
    const std::lock_guard lock{counter().mutex};
    const Counts& all = counter().counts;
    std::fprintf(log,
                 "{\"pid\":%d,\"kernels\":%lld,\"bytes_to_device\":%lld,\"bytes_to_host\":%lld,\"bytes_inside\":%lld,"
                 "\"pageable_bytes\":%lld,\"copies_beside_work\":%lld,\"most_bytes\":%lld}\n",
                 static_cast<int>(::getpid()), static_cast<long long>(all.kernels),
                 static_cast<long long>(all.bytes_to_device), static_cast<long long>(all.bytes_to_host),
                 static_cast<long long>(all.bytes_inside), static_cast<long long>(all.pageable_bytes),
                 static_cast<long long>(all.copies_beside_work), static_cast<long long>(all.most_bytes));
    std::fclose(log);
}

}  // namespace

std::int64_t setting(const char* variable, std::int64_t otherwise)
{
    const char* const text = std::getenv(variable);
    return text != nullptr && *text != '\0' ? std::atoll(text) : otherwise;
}

std::int64_t now_ns()
{
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

std::int64_t reserve(int device, Engine engine, std::int64_t length_ns)
{
    const auto place = static_cast<std::size_t>(device);
    if (engine == to_device || engine == to_host)
        if (state().busy_until[place][kernels] > now_ns()) count(&Counts::copies_beside_work, 1);
    std::atomic<std::int64_t>& busy_until = state().busy_until[place][engine];
    std::int64_t free_at = busy_until.load();
    while (true) {
        const std::int64_t end = std::max(free_at, now_ns()) + length_ns;
        if (busy_until.compare_exchange_weak(free_at, end)) return end;
    }
}

void sleep_until(std::int64_t time_ns)
{
    const timespec time{time_ns / 1'000'000'000, time_ns % 1'000'000'000};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
    }
}

std::int64_t bytes_in_use(int device)
{
    return state().bytes[static_cast<std::size_t>(device)];
}

bool use_bytes(int device, std::int64_t more)
{
    std::atomic<std::int64_t>& bytes = state().bytes[static_cast<std::size_t>(device)];
    const std::int64_t limit = setting("CUDA_STUB_MEMORY", std::int64_t{1} << 30);
    std::int64_t before = bytes.load();
    while (true) {
        if (before + more > limit) return false;
        if (bytes.compare_exchange_weak(before, before + more)) break;
    }
    const std::lock_guard lock{counter().mutex};
    counter().counts.most_bytes = std::max(counter().counts.most_bytes, before + more);
    return true;
}

void count(std::int64_t Counts::*what, std::int64_t more)
{
    const std::lock_guard lock{counter().mutex};
    counter().counts.*what += more;
}

}  // namespace cuda_stub
