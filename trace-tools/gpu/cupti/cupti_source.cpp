// SPDX-License-Identifier: Apache-2.0
// libcrosstalk-cupti.so: an ActivitySource for the records of CUPTI about this process's GPUs. Nothing else depends on
// CUPTI. CUPTI fills our buffers, one for each thread that calls CUDA and for each context, and returns full ones on
// its own thread. Their number is limited: if all are in use, CUPTI drops records and reports how many.
#include "base/system/clock.hpp"
#include "trace-tools/gpu/recording/source.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <cupti.h>
#include <cxxabi.h>

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20U;
constexpr std::size_t most_buffers = 256;

constexpr std::array recorded_kinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                    CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
                                    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,   CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
// Parts of the names of recorded calls: those that request something of a GPU, or wait for it. For each of these,
// LibTorch makes six others.
constexpr std::array recorded_calls{"Launch",      "Memcpy", "Memset", "Synchronize", "StreamWaitEvent",
                                    "EventRecord", "Malloc", "Free",   "HostAlloc"};

std::mutex handing_over;            // guards the variables below
gpu::ActivitySink* sink = nullptr;  // null: not recording

// Buffers are allocated and touched on demand, and kept.
class Buffers {
 public:
    std::uint8_t* take()
    {
        const std::lock_guard lock{mutex_};
        for (Buffer& buffer : all_) {
            if (buffer.taken) continue;
            if (!buffer.bytes) buffer.bytes.reset(static_cast<std::uint8_t*>(std::aligned_alloc(64, buffer_bytes)));
            buffer.taken = buffer.bytes != nullptr;
            return buffer.bytes.get();
        }
        return nullptr;
    }

    void give_back(const std::uint8_t* bytes)
    {
        const std::lock_guard lock{mutex_};
        for (Buffer& buffer : all_)
            if (buffer.bytes.get() == bytes) buffer.taken = false;
    }

 private:
    struct Free {
        void operator()(std::uint8_t* bytes) const { std::free(bytes); }
    };
    struct Buffer {
        std::unique_ptr<std::uint8_t, Free> bytes;
        bool taken = false;
    };
    std::mutex mutex_;
    std::array<Buffer, most_buffers> all_;
};

// Never destroyed: CUPTI's threads may still run when this library's objects are destroyed.
Buffers& buffers = *new Buffers;

// Reads both clocks several times and keeps the closest pair, as the thread may be interrupted between two readings.
gpu::ClockPair look_at_clocks()
{
    constexpr int looks = 5;
    gpu::ClockPair best{.error_ns = INT64_MAX};
    for (int i = 0; i < looks; ++i) {
        const std::int64_t before_ns = base::now_ns();
        std::uint64_t recorded_ns = 0;
        if (cuptiGetTimestamp(&recorded_ns) != CUPTI_SUCCESS) continue;
        const std::int64_t half_ns = (base::now_ns() - before_ns + 1) / 2;
        if (half_ns < best.error_ns)
            best = {.recorded_ns = static_cast<std::int64_t>(recorded_ns),
                    .trace_ns = before_ns + half_ns,
                    .error_ns = half_ns};
    }
    return best;
}

// Skips readings that are close together: the line between them would amplify their errors.
void hand_over_look()
{
    constexpr std::int64_t least_apart_ns = 10'000'000;
    static std::int64_t last_ns = INT64_MIN / 2;
    if (base::now_ns() - last_ns < least_apart_ns) return;
    const gpu::ClockPair look = look_at_clocks();
    if (look.error_ns == INT64_MAX) return;
    last_ns = look.trace_ns;
    sink->look(look);
}

const std::string& demangled(const char* name)
{
    static auto& known = *new std::map<std::string, std::string, std::less<>>;
    const auto found = known.find(std::string_view{name});
    if (found != known.end()) return found->second;
    int code = 0;
    const std::unique_ptr<char, void (*)(void*)> plain{abi::__cxa_demangle(name, nullptr, nullptr, &code), &std::free};
    return known.try_emplace(name, code == 0 ? plain.get() : name).first->second;
}

// Returns "cudaLaunchKernel" for "cudaLaunchKernel_v7000".
std::string_view call_name(CUpti_CallbackDomain domain, std::uint32_t number)
{
    const char* name = nullptr;
    if (cuptiGetCallbackName(domain, number, &name) != CUPTI_SUCCESS || name == nullptr) return "CUDA call";
    const std::string_view whole{name};
    const std::size_t version = whole.rfind("_v");
    const bool has_version = domain == CUPTI_CB_DOMAIN_RUNTIME_API && version != std::string_view::npos;
    return whole.substr(0, has_version ? version : whole.size());
}

const char* directions(std::uint8_t kind)
{
    switch (kind) {
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
            return "host to device";
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
        case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
            return "device to host";
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
            return "host to host";
        case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
            return "device to device of another";
        default:
            return "device to device";
    }
}

// Sets the members that all records of a device have under the same names.
template <class Record>
gpu::Activity on_device(gpu::ActivityKind kind, const Record& record)
{
    return {.kind = kind,
            .begin_ns = static_cast<std::int64_t>(record.start),
            .end_ns = static_cast<std::int64_t>(record.end),
            .device = record.deviceId,
            .stream = record.streamId,
            .correlation = record.correlationId};
}

template <class Record>
void hand_over_copy(const Record& record)
{
    gpu::Activity activity = on_device(gpu::ActivityKind::copy, record);
    activity.bytes = record.bytes;
    activity.name = directions(record.copyKind);
    sink->activity(activity);
}

void hand_over_call(const CUpti_ActivityAPI& record)
{
    const bool of_driver = record.kind == CUPTI_ACTIVITY_KIND_DRIVER;
    const std::string_view name =
        call_name(of_driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, record.cbid);
    sink->activity({.kind = gpu::ActivityKind::call,
                    .begin_ns = static_cast<std::int64_t>(record.start),
                    .end_ns = static_cast<std::int64_t>(record.end),
                    .thread = record.threadId,
                    .correlation = record.correlationId,
                    .name = name});
}

void hand_over_wait(const CUpti_ActivitySynchronization2& record)
{
    constexpr std::int64_t all_streams = -1;
    if (record.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE)
        sink->waits_for(record.correlationId, record.streamId);
    if (record.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE)
        sink->waits_for(record.correlationId, all_streams);
}

template <class Record>
const Record& as(const CUpti_Activity& record)
{
    return reinterpret_cast<const Record&>(record);
}

void hand_over(const CUpti_Activity& record)
{
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
            const auto& kernel = as<CUpti_ActivityKernel10>(record);
            gpu::Activity activity = on_device(gpu::ActivityKind::kernel, kernel);
            activity.name = "kernel";
            if (kernel.name != nullptr) activity.name = demangled(kernel.name);
            return sink->activity(activity);
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return hand_over_copy(as<CUpti_ActivityMemcpy6>(record));
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            return hand_over_copy(as<CUpti_ActivityMemcpyPtoP4>(record));
        case CUPTI_ACTIVITY_KIND_MEMSET: {
            gpu::Activity activity = on_device(gpu::ActivityKind::set, as<CUpti_ActivityMemset4>(record));
            activity.bytes = as<CUpti_ActivityMemset4>(record).bytes;
            return sink->activity(activity);
        }
        case CUPTI_ACTIVITY_KIND_RUNTIME:
        case CUPTI_ACTIVITY_KIND_DRIVER:
            return hand_over_call(as<CUpti_ActivityAPI>(record));
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
            return hand_over_wait(as<CUpti_ActivitySynchronization2>(record));
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
            const auto& external = as<CUpti_ActivityExternalCorrelation>(record);
            return sink->belongs_to(external.correlationId, static_cast<std::int64_t>(external.externalId));
        }
        default:
            return;
    }
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records)
{
    *buffer = buffers.take();
    *size = *buffer == nullptr ? 0 : buffer_bytes;
    *most_records = 0;  // 0: as many as fit
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                               std::size_t valid)
{
    const std::lock_guard lock{handing_over};
    if (sink != nullptr) {
        hand_over_look();
        CUpti_Activity* record = nullptr;
        while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) hand_over(*record);
        std::size_t dropped = 0;
        if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS && dropped > 0)
            sink->dropped(dropped);
    }
    buffers.give_back(buffer);
}

const char* reason(const char* what, CUptiResult code)
{
    static std::string& text = *new std::string;
    const char* words = nullptr;
    if (cuptiGetResultString(code, &words) != CUPTI_SUCCESS || words == nullptr) words = "unknown";
    text = std::string{"CUPTI cannot "} + what + ": " + words + " (" + std::to_string(code) + ")";
    return text.c_str();
}

bool is_recorded(CUpti_CallbackDomain domain, std::uint32_t number)
{
    const std::string_view name = call_name(domain, number);
    // Only launches among the driver's calls, as in PyTorch's profiler: the runtime makes the other calls itself.
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return name.find("Launch") != std::string_view::npos;
    return std::ranges::any_of(recorded_calls,
                               [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

// Returns the first error, or success.
CUptiResult enable_calls(CUpti_CallbackDomain domain, std::uint32_t end,
                         CUptiResult (*enable)(CUpti_CallbackId, std::uint8_t))
{
    for (std::uint32_t number = 1; number < end; ++number) {
        if (!is_recorded(domain, number)) continue;
        if (const CUptiResult code = enable(number, 1); code != CUPTI_SUCCESS) return code;
    }
    return CUPTI_SUCCESS;
}

CUptiResult enable_all_calls()
{
    const CUptiResult code =
        enable_calls(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE, cuptiActivityEnableRuntimeApi);
    if (code != CUPTI_SUCCESS) return code;
    return enable_calls(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE, cuptiActivityEnableDriverApi);
}

void record_no_more()
{
    for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER})
        static_cast<void>(cuptiActivityDisable(kind));
    for (const CUpti_ActivityKind kind : recorded_kinds) static_cast<void>(cuptiActivityDisable(kind));
    const std::lock_guard lock{handing_over};
    sink = nullptr;
}

const char* start(gpu::ActivitySink& into)
{
    // Kernel thread ids, as in the trace, instead of POSIX thread ids.
    static_cast<void>(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
    if (const CUptiResult code = cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
        code != CUPTI_SUCCESS)
        return reason("flush its buffers", code);
    {
        const std::lock_guard lock{handing_over};
        sink = &into;
        hand_over_look();
    }
    CUptiResult code = enable_all_calls();
    for (const CUpti_ActivityKind kind : recorded_kinds)
        if (code == CUPTI_SUCCESS) code = cuptiActivityEnable(kind);
    if (code == CUPTI_SUCCESS) return nullptr;
    record_no_more();
    return reason("record", code);
}

void stop()
{
    static_cast<void>(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    record_no_more();
}

void enter(std::int64_t id)
{
    static_cast<void>(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0,
                                                             static_cast<std::uint64_t>(id)));
}

void leave()
{
    std::uint64_t last = 0;
    static_cast<void>(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last));
}

}  // namespace

extern "C" {

extern __attribute__((visibility("default"))) const gpu::ActivitySource crosstalk_gpu_activities;
const gpu::ActivitySource crosstalk_gpu_activities{
    .version = gpu::source_version, .start = start, .stop = stop, .enter = enter, .leave = leave};

}  // extern "C"
