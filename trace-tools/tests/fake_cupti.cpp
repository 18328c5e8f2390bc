// SPDX-License-Identifier: Apache-2.0
// CUPTI stub, preloaded instead of NVIDIA's library: delivers the records of a GPU that does not exist. Its clock runs
// an hour ahead. FAKE_CUPTI_LAUNCHES=N: N kernels, in two streams; if unset, recording fails.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include <cupti.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
std::uint64_t began_ns = 0;
bool kernels_wanted = false;

std::uint64_t fake_now_ns()
{
    ::timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    constexpr std::uint64_t hour_ns = 3'600'000'000'000;
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec) + hour_ns;
}

std::size_t size_of(CUpti_ActivityKind kind)
{
    switch (kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return sizeof(CUpti_ActivityKernel10);
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return sizeof(CUpti_ActivityMemcpy6);
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
            return sizeof(CUpti_ActivitySynchronization2);
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
            return sizeof(CUpti_ActivityExternalCorrelation);
        default:
            return sizeof(CUpti_ActivityAPI);
    }
}

// Writes records into a buffer requested from the library and returns the buffer when it is full.
class Writer {
 public:
    template <class Record>
    void write(const Record& record)
    {
        if (buffer_ == nullptr) request(&buffer_, &room_, &most_);
        if (room_ - used_ < sizeof record) {
            finish();
            request(&buffer_, &room_, &most_);
        }
        std::memcpy(buffer_ + used_, &record, sizeof record);
        used_ += sizeof record;
    }
    void finish()
    {
        if (buffer_ != nullptr) complete(nullptr, 0, buffer_, room_, used_);
        buffer_ = nullptr;
        used_ = 0;
    }

 private:
    std::uint8_t* buffer_ = nullptr;
    std::size_t room_ = 0;
    std::size_t most_ = 0;
    std::size_t used_ = 0;
};

CUpti_ActivityAPI call(std::uint32_t number, std::uint64_t at_ns, CUpti_CallbackId what)
{
    CUpti_ActivityAPI record{};
    record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    record.cbid = what;
    record.start = at_ns;
    record.end = at_ns + 400;
    record.threadId = 42;
    record.correlationId = number;
    return record;
}

CUpti_ActivityKernel10 kernel(std::uint32_t number, std::uint64_t at_ns)
{
    CUpti_ActivityKernel10 record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.start = at_ns + 200;
    record.end = at_ns + 900;
    record.streamId = number % 2 == 0 ? 7 : 13;
    record.correlationId = number;
    record.name = "_Z4gemmPKfi";
    return record;
}

CUpti_ActivityMemcpy6 copy(std::uint32_t number, std::uint64_t at_ns)
{
    CUpti_ActivityMemcpy6 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    record.bytes = 4096;
    record.start = at_ns + 200;
    record.end = at_ns + 900;
    record.streamId = 20;
    record.correlationId = number;
    return record;
}

// Requests one buffer more than the library may give (256); true if it gets it. Else CUPTI would drop records.
bool takes_more_than_it_says()
{
    constexpr int most = 256;
    std::vector<std::uint8_t*> taken;
    for (int i = 0; i <= most; ++i) {
        std::uint8_t* buffer = nullptr;
        std::size_t room = 0;
        std::size_t records = 0;
        request(&buffer, &room, &records);
        if (buffer != nullptr) taken.push_back(buffer);
    }
    for (std::uint8_t* const buffer : taken) complete(nullptr, 0, buffer, 0, 0);
    return taken.size() > most;
}

std::size_t dropped_once = 0;

}  // namespace

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc on_request,
                                           CUpti_BuffersCallbackCompleteFunc on_complete)
{
    request = on_request;
    complete = on_complete;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    if (std::getenv("FAKE_CUPTI_LAUNCHES") == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
    kernels_wanted |= kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    began_ns = fake_now_ns();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, std::uint8_t)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, std::uint8_t)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(std::uint64_t* timestamp)
{
    *timestamp = fake_now_ns();
    return CUPTI_SUCCESS;
}

// The record of a kernel precedes that of its launch call, an order that CUPTI permits.
CUptiResult cuptiActivityFlushAll(std::uint32_t)
{
    if (!kernels_wanted) return CUPTI_SUCCESS;
    const auto launches = static_cast<std::uint32_t>(std::atoi(std::getenv("FAKE_CUPTI_LAUNCHES")));
    dropped_once = takes_more_than_it_says() ? 0 : 3;
    Writer writer;
    for (std::uint32_t number = 1; number <= launches; ++number) {
        const std::uint64_t at_ns = began_ns + number * 1000ULL;
        writer.write(kernel(number, at_ns));
        writer.write(call(number, at_ns, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000));
    }
    const std::uint64_t end_ns = began_ns + (launches + 1) * 1000ULL;
    writer.write(copy(launches + 1, end_ns));
    writer.write(call(launches + 1, end_ns, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020));
    writer.write(call(launches + 2, end_ns + 1000, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020));
    CUpti_ActivitySynchronization2 wait{};
    wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    wait.correlationId = launches + 2;
    wait.streamId = 20;
    writer.write(wait);
    writer.finish();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record)
{
    std::uint8_t* next = buffer;
    if (*record != nullptr) next = reinterpret_cast<std::uint8_t*>(*record) + size_of((*record)->kind);
    if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped)
{
    *dropped = dropped_once;
    dropped_once = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, std::uint32_t number, const char** name)
{
    *name = number == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000  ? "cudaLaunchKernel_v7000"
            : number == CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020 ? "cudaMemcpyAsync_v3020"
                                                                       : "cudaStreamSynchronize_v3020";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** words)
{
    *words = "CUPTI_ERROR_NOT_INITIALIZED";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t*)
{
    return CUPTI_SUCCESS;
}

}  // extern "C"
