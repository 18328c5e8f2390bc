// SPDX-License-Identifier: Apache-2.0
// Functions loaded from the CUDA driver, on a stub: declared as in cuda.h, executed in order, and in the time they
// take.
#include "base/gpu/cuda_driver.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "testing/cuda_stub.hpp"
#include "testing/environment.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#ifdef CROSSTALK_CUDA_HEADER
#include <cuda.h>
#endif

namespace cuda = base::cuda;

namespace {

const cuda::Driver& stub()
{
    testing::load_cuda_stub();
    return cuda::driver();
}

const cuda::Driver& stub_with_context()
{
    const cuda::Driver& driver = stub();
    cuda::Context context = nullptr;
    cuda::check(driver.retain_context(&context, 0), "take the GPU");
    cuda::check(driver.use_context(context), "use the GPU");
    return driver;
}

cuda::Address allocated(const cuda::Driver& driver, std::size_t bytes)
{
    cuda::Address address = 0;
    cuda::check(driver.allocate(&address, bytes), "allocate");
    return address;
}

cuda::Stream stream(const cuda::Driver& driver)
{
    cuda::Stream made = nullptr;
    cuda::check(driver.create_stream(&made, cuda::stream_non_blocking), "make a stream");
    return made;
}

cuda::Function kernel(const cuda::Driver& driver, const char* name)
{
    cuda::Module module = nullptr;
    cuda::Function function = nullptr;
    cuda::check(driver.load_module(&module, ".visible .entry busy_ns()"), "load");
    cuda::check(driver.function(&function, module, name), "find the kernel");
    return function;
}

void launch(const cuda::Driver& driver, cuda::Function function, std::uint64_t length_ns, cuda::Stream where)
{
    std::array<void*, 1> parameters{&length_ns};
    cuda::check(driver.launch(function, 1, 1, 1, 1, 1, 1, 0, where, parameters.data(), nullptr), "launch");
}

#ifdef CROSSTALK_CUDA_HEADER
// Represents a function's type by the sizes of its result and parameters; pointers count as 100 more, to differ from
// integers.
template <class Type>
constexpr std::size_t shape_of_value = std::is_pointer_v<Type> ? 100 + sizeof(Type) : sizeof(Type);

template <class Function>
struct Shape;

template <class Result, class... Arguments>
struct Shape<Result (*)(Arguments...)> {
    static std::vector<std::size_t> sizes() { return {shape_of_value<Result>, shape_of_value<Arguments>...}; }
};
#endif

}  // namespace

TEST_CASE("functions of the driver are declared as in cuda.h")
{
#ifdef CROSSTALK_CUDA_HEADER
#define CROSSTALK_COMPARE(member, symbol, parameters) \
    CHECK_MESSAGE(Shape<decltype(cuda::Driver::member)>::sizes() == Shape<decltype(&symbol)>::sizes(), #symbol);
    CROSSTALK_CUDA_FUNCTIONS(CROSSTALK_COMPARE)
    CHECK(cuda::no_device == CUDA_ERROR_NO_DEVICE);
    CHECK(cuda::out_of_memory == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cuda::not_ready == CUDA_ERROR_NOT_READY);
    CHECK(cuda::stream_non_blocking == CU_STREAM_NON_BLOCKING);
    CHECK(cuda::event_blocking_sync == CU_EVENT_BLOCKING_SYNC);
    CHECK(cuda::event_disable_timing == CU_EVENT_DISABLE_TIMING);
    CHECK(cuda::context_blocking_sync == CU_CTX_SCHED_BLOCKING_SYNC);
    CHECK(cuda::host_memory_portable == CU_MEMHOSTALLOC_PORTABLE);
    CHECK(cuda::pointer_memory_type == CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
    CHECK(cuda::memory_of_device == CU_MEMORYTYPE_DEVICE);
    CHECK(cuda::multiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    CHECK(cuda::compute_capability_major == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    CHECK(cuda::compute_capability_minor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
#else
    testing::skip("there is no cuda.h to compare with");
#endif
}

TEST_CASE("without a GPU the driver's own word is reported")
{
    const testing::Environment none{{{"CUDA_STUB_DEVICES", "0"}}};
    testing::load_cuda_stub();
    CHECK(cuda::devices() == 0);
    CHECK_THROWS_WITH_AS(cuda::driver(), "there is no GPU: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
                         base::Unavailable);
}

TEST_CASE("a copy to the device and back through another place of it keeps all bytes")
{
    const cuda::Driver& driver = stub_with_context();
    std::vector<int> sent(100'000);
    std::iota(sent.begin(), sent.end(), 0);
    const std::size_t bytes = sent.size() * sizeof(int);
    std::vector<int> received(sent.size());
    const cuda::Address one = allocated(driver, bytes);
    const cuda::Address other = allocated(driver, bytes);
    const cuda::Stream line = stream(driver);
    cuda::check(driver.copy_to_device(one, sent.data(), bytes, line), "copy");
    cuda::check(driver.copy_inside(other, one, bytes, line), "copy");
    cuda::check(driver.copy_to_host(received.data(), other, bytes, line), "copy");
    cuda::check(driver.synchronize_stream(line), "wait");
    CHECK(received == sent);
    unsigned type = 0;
    CHECK(driver.pointer_attribute(&type, cuda::pointer_memory_type, other + 4) == cuda::success);
    CHECK(type == cuda::memory_of_device);
    CHECK(driver.pointer_attribute(&type, cuda::pointer_memory_type, reinterpret_cast<cuda::Address>(sent.data())) !=
          cuda::success);
    CHECK(driver.free(one) == cuda::success);
    CHECK(driver.free(one) != cuda::success);
}

TEST_CASE("copies and kernels take their time, in order, and beside each other on two streams")
{
    const testing::Environment slow{{{"CUDA_STUB_BANDWIDTH", "1000000000"}}};
    const cuda::Driver& driver = stub_with_context();
    const cuda::Stream copies = stream(driver);
    const cuda::Stream work = stream(driver);
    void* host = nullptr;
    constexpr std::size_t bytes = 50'000'000;  // 50 ms
    cuda::check(driver.allocate_host(&host, bytes, 0), "allocate");
    const cuda::Address device = allocated(driver, bytes);

    const std::int64_t begin = base::now_ns();
    cuda::check(driver.copy_to_device(device, host, bytes, copies), "copy");
    launch(driver, kernel(driver, "busy_ns"), 50'000'000, work);
    CHECK(driver.query_stream(work) == cuda::not_ready);
    cuda::check(driver.synchronize(), "wait");
    const std::int64_t beside = base::now_ns() - begin;
    CHECK(beside >= 50'000'000);

    cuda::Event copied = nullptr;
    cuda::check(driver.create_event(&copied, 0), "make an event");
    const std::int64_t second = base::now_ns();
    cuda::check(driver.copy_to_device(device, host, bytes, copies), "copy");
    cuda::check(driver.record_event(copied, copies), "record");
    cuda::check(driver.wait_event(work, copied, 0), "wait for the event");
    launch(driver, kernel(driver, "busy_ns"), 50'000'000, work);
    cuda::check(driver.synchronize_stream(work), "wait");
    CHECK(base::now_ns() - second >= 100'000'000);
    CHECK(driver.query_event(copied) == cuda::success);
}

TEST_CASE("more memory than the GPU has is refused, and what is given back can be used again")
{
    const testing::Environment small{{{"CUDA_STUB_MEMORY", "1000000"}}};
    const cuda::Driver& driver = stub_with_context();
    const cuda::Address most = allocated(driver, 900'000);
    cuda::Address address = 0;
    CHECK(driver.allocate(&address, 200'000) == cuda::out_of_memory);
    std::size_t free = 0;
    std::size_t total = 0;
    cuda::check(driver.memory_info(&free, &total), "ask for the memory");
    CHECK(free == 100'000);
    CHECK(total == 1'000'000);
    CHECK(driver.free(most) == cuda::success);
    CHECK(driver.allocate(&address, 200'000) == cuda::success);
}

TEST_CASE("a thread without the GPU's context can allocate nothing, and an unknown kernel is not found")
{
    const cuda::Driver& driver = stub();
    cuda::Address address = 0;
    CHECK(driver.use_context(nullptr) == cuda::success);
    CHECK(driver.allocate(&address, 4) != cuda::success);
    CHECK_THROWS_WITH(kernel(stub_with_context(), "lazy_ns"),
                      "cannot find the kernel: CUDA_ERROR_NOT_FOUND: said by the stub");
}
