// SPDX-License-Identifier: Apache-2.0
// Stub of NCCL, for tests without a GPU: put its folder into LD_LIBRARY_PATH, along with that of testing/cuda_stub,
// whose device memory it reduces. Ranks of a node meet in a file in /dev/shm. Unlike NCCL's, its calls block until
// completion.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr int success = 0;
constexpr int invalid_argument = 4;
constexpr int remote_error = 6;
constexpr int most_ranks = 4;
constexpr std::size_t most_numbers = 1024;

struct Id {
    char text[128];
};

struct Meeting {
    std::atomic<int> arrivals;  // at all barriers so far
    float numbers[most_ranks][most_numbers];
};

struct Communicator {
    Meeting* meeting = nullptr;
    int ranks = 0;
    int rank = 0;
    int barriers = 0;

    bool barrier()
    {
        using namespace std::chrono;
        const int all = ++barriers * ranks;
        ++meeting->arrivals;
        const auto end = steady_clock::now() + seconds{20};
        while (meeting->arrivals < all && steady_clock::now() < end) std::this_thread::sleep_for(microseconds{100});
        return meeting->arrivals >= all;
    }
};

// Returns a function of the CUDA driver that the program has loaded.
template <class Function>
Function driver_function(const char* name)
{
    return reinterpret_cast<Function>(::dlsym(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), name));
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version)
{
    *version = 22809;
    return success;
}

const char* ncclGetErrorString(int code)
{
    return code == remote_error ? "remote process exited or there was a network error" : "invalid argument";
}

const char* ncclGetLastError(void*)
{
    return "";
}

int ncclGetUniqueId(Id* id)
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    std::snprintf(id->text, sizeof id->text, "/dev/shm/nccl_stub.%d.%lld", ::getpid(), static_cast<long long>(now));
    return success;
}

int ncclCommInitRank(void** communicator, int ranks, Id id, int rank)
{
    if (ranks > most_ranks) return invalid_argument;
    const int file = ::open(id.text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(Meeting)) != 0) return remote_error;
    void* const memory = ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (memory == MAP_FAILED) return remote_error;
    auto* const mine = new Communicator{.meeting = static_cast<Meeting*>(memory), .ranks = ranks, .rank = rank};
    *communicator = mine;
    const bool all = mine->barrier();
    ::unlink(id.text);
    return all ? success : remote_error;
}

int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int operation, void* communicator,
                  void* stream)
{
    auto& mine = *static_cast<Communicator*>(communicator);
    constexpr int float32 = 7;
    constexpr int mean = 4;
    if (count > most_numbers || type != float32 || operation != mean) return invalid_argument;
    using Address = std::uint64_t;
    static const auto to_host = driver_function<int (*)(void*, Address, std::size_t, void*)>("cuMemcpyDtoHAsync_v2");
    static const auto to_device =
        driver_function<int (*)(Address, const void*, std::size_t, void*)>("cuMemcpyHtoDAsync_v2");
    static const auto synchronize = driver_function<int (*)(void*)>("cuStreamSynchronize");
    float* const numbers = mine.meeting->numbers[mine.rank];
    to_host(numbers, reinterpret_cast<Address>(from), count * sizeof(float), stream);
    synchronize(stream);
    if (!mine.barrier()) return remote_error;
    std::vector<float> means(count);
    for (std::size_t i = 0; i < count; ++i) {
        for (int rank = 0; rank < mine.ranks; ++rank) means[i] += mine.meeting->numbers[rank][i];
        means[i] /= static_cast<float>(mine.ranks);
    }
    if (!mine.barrier()) return remote_error;
    to_device(reinterpret_cast<Address>(to), means.data(), count * sizeof(float), stream);
    return synchronize(stream);
}

int ncclCommGetAsyncError(void*, int* code)
{
    *code = success;
    return success;
}

int ncclCommAbort(void* communicator)
{
    const auto* const mine = static_cast<Communicator*>(communicator);
    ::munmap(mine->meeting, sizeof(Meeting));
    delete mine;
    return success;
}

int ncclCommDestroy(void* communicator)
{
    return ncclCommAbort(communicator);
}

}  // extern "C"
