// SPDX-License-Identifier: Apache-2.0
// Streams, events, copies and kernels of the driver stub.
#include "base/gpu/cuda_driver.hpp"
#include "testing/cuda_stub/current_device.hpp"
#include "testing/cuda_stub/memory.hpp"
#include "testing/cuda_stub/streams.hpp"
#include "testing/cuda_stub/timeline.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

using base::cuda::Address;
using base::cuda::Event;
using base::cuda::Function;
using base::cuda::Module;
using base::cuda::Result;
using base::cuda::Stream;
using cuda_stub::Counts;
using cuda_stub::current_device;
using cuda_stub::StubEvent;
using cuda_stub::StubStream;

namespace {

constexpr Result done = 0;
constexpr Result wrong_value = 1;
constexpr Result no_context = 201;
constexpr Result no_such_name = 500;
constexpr Result under_way = 600;

struct StubModule {
    std::string text;  // empty: its kernels are not known by name
};

struct StubFunction {
    std::string name;
};

// Keeps the object until the process ends: a kernel may still be queued in a stream.
template <class Thing>
Thing* kept(Thing thing)
{
    static std::mutex mutex;
    static auto* const all = new std::deque<Thing>;
    const std::lock_guard lock{mutex};
    return &all->emplace_back(std::move(thing));
}

StubStream& default_stream()
{
    static std::array<StubStream*, cuda_stub::most_devices> all{};
    static std::mutex mutex;
    const std::lock_guard lock{mutex};
    const int device = std::max(current_device(), 0);
    StubStream*& stream = all[static_cast<std::size_t>(device)];
    if (stream == nullptr) stream = new StubStream{device};
    return *stream;
}

StubStream& of(Stream stream)
{
    return stream == nullptr ? default_stream() : *static_cast<StubStream*>(stream);
}

StubEvent& of_event(Event event)
{
    return *static_cast<StubEvent*>(event);
}

// Queues a copy that occupies the engine for its size divided by the bandwidth.
void add_copy(Stream stream, cuda_stub::Engine engine, void* to, const void* from, std::size_t bytes)
{
    const std::int64_t outside = cuda_stub::setting("CUDA_STUB_BANDWIDTH", 10'000'000'000);
    const std::int64_t bandwidth = engine == cuda_stub::inside ? 10 * outside : outside;
    const auto length_ns = static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(bandwidth));
    const int device = of(stream).device();
    of(stream).add([=] {
        const std::int64_t end = cuda_stub::reserve(device, engine, length_ns);
        std::memmove(to, from, bytes);
        cuda_stub::sleep_until(end);
    });
}

Result add_host_copy(Stream stream, Address device_memory, void* host, const void* from_host, std::size_t bytes)
{
    void* const memory = cuda_stub::reachable(device_memory, bytes);
    if (memory == nullptr) return wrong_value;
    const bool down = from_host != nullptr;
    if (!cuda_stub::is_pinned(down ? from_host : host, bytes))
        cuda_stub::count(&Counts::pageable_bytes, static_cast<std::int64_t>(bytes));
    cuda_stub::count(down ? &Counts::bytes_to_device : &Counts::bytes_to_host, static_cast<std::int64_t>(bytes));
    if (down)
        add_copy(stream, cuda_stub::to_device, memory, from_host, bytes);
    else
        add_copy(stream, cuda_stub::to_host, host, memory, bytes);
    return done;
}

template <class Value>
Result add_set(Stream stream, Address to, Value value, std::size_t number)
{
    auto* const memory = static_cast<Value*>(cuda_stub::reachable(to, number * sizeof(Value)));
    if (memory == nullptr) return wrong_value;
    const int device = of(stream).device();
    of(stream).add([=] {
        std::fill_n(memory, number, value);
        cuda_stub::sleep_until(cuda_stub::reserve(device, cuda_stub::inside, static_cast<std::int64_t>(number / 1000)));
    });
    return done;
}

std::int64_t length_of(const StubFunction& function, void** parameters)
{
    if (!std::string_view{function.name}.ends_with("_ns")) return cuda_stub::setting("CUDA_STUB_KERNEL_NS", 100'000);
    std::uint64_t length_ns = 0;
    std::memcpy(&length_ns, parameters[0], sizeof length_ns);
    return static_cast<std::int64_t>(length_ns);
}

}  // namespace

extern "C" {

Result cuStreamCreate(Stream* stream, unsigned)
{
    if (current_device() < 0) return no_context;
    *stream = new StubStream{current_device()};
    return done;
}

Result cuStreamCreateWithPriority(Stream* stream, unsigned flags, int)
{
    return cuStreamCreate(stream, flags);
}

Result cuCtxGetStreamPriorityRange(int* least, int* greatest)
{
    *least = 0;
    *greatest = -5;
    return done;
}

Result cuStreamDestroy_v2(Stream stream)
{
    static_cast<StubStream*>(stream)->close();
    return done;
}

Result cuStreamQuery(Stream stream)
{
    return of(stream).idle() ? done : under_way;
}

Result cuStreamSynchronize(Stream stream)
{
    of(stream).wait_until_idle();
    return done;
}

Result cuStreamWaitEvent(Stream stream, Event event, unsigned)
{
    StubEvent* const awaited = &of_event(event);
    of(stream).add([awaited, recording = awaited->recorded()] { awaited->wait_for(recording); });
    return done;
}

Result cuLaunchHostFunc(Stream stream, void (*function)(void*), void* data)
{
    of(stream).add([=] { function(data); });
    return done;
}

Result cuCtxSynchronize()
{
    if (current_device() < 0) return no_context;
    StubStream::wait_for_all_of(current_device());
    return done;
}

Result cuEventCreate(Event* event, unsigned)
{
    if (current_device() < 0) return no_context;
    *event = new StubEvent;
    return done;
}

Result cuEventDestroy_v2(Event event)
{
    of_event(event).wait();
    delete &of_event(event);
    return done;
}

Result cuEventRecord(Event event, Stream stream)
{
    of_event(event).record(of(stream));
    return done;
}

Result cuEventQuery(Event event)
{
    return of_event(event).done() ? done : under_way;
}

Result cuEventSynchronize(Event event)
{
    of_event(event).wait();
    return done;
}

Result cuEventElapsedTime(float* ms, Event begin, Event end)
{
    if (!of_event(begin).done() || !of_event(end).done()) return under_way;
    *ms = static_cast<float>(of_event(end).time_ns() - of_event(begin).time_ns()) / 1e6F;
    return done;
}

Result cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, Stream stream)
{
    return add_host_copy(stream, to, nullptr, from, bytes);
}

Result cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, Stream stream)
{
    return add_host_copy(stream, from, to, nullptr, bytes);
}

Result cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, Stream stream)
{
    void* const target = cuda_stub::reachable(to, bytes);
    const void* const source = cuda_stub::reachable(from, bytes);
    if (target == nullptr || source == nullptr) return wrong_value;
    cuda_stub::count(&Counts::bytes_inside, static_cast<std::int64_t>(bytes));
    add_copy(stream, cuda_stub::inside, target, source, bytes);
    return done;
}

Result cuMemsetD8Async(Address to, unsigned char value, std::size_t bytes, Stream stream)
{
    return add_set(stream, to, value, bytes);
}

Result cuMemsetD32Async(Address to, unsigned value, std::size_t number, Stream stream)
{
    return add_set(stream, to, value, number);
}

Result cuModuleLoadData(Module* module, const void* image)
{
    if (current_device() < 0) return no_context;
    const auto* const text = static_cast<const char*>(image);
    *module = kept(StubModule{*text == '.' || *text == '/' || *text == '\n' ? text : ""});
    return done;
}

Result cuModuleUnload(Module module)
{
    return module == nullptr ? wrong_value : done;
}

Result cuModuleGetFunction(Function* function, Module module, const char* name)
{
    const std::string& text = static_cast<StubModule*>(module)->text;
    if (!text.empty() && text.find(name) == std::string::npos) return no_such_name;
    *function = kept(StubFunction{name});
    return done;
}

Result cuLaunchKernel(Function function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      Stream stream, void** parameters, void**)
{
    if (current_device() < 0) return no_context;
    const std::int64_t length_ns = length_of(*static_cast<StubFunction*>(function), parameters);
    const int device = of(stream).device();
    cuda_stub::count(&Counts::kernels, 1);
    of(stream).add([=] { cuda_stub::sleep_until(cuda_stub::reserve(device, cuda_stub::kernels, length_ns)); });
    return done;
}
}
