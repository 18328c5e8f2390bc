// SPDX-License-Identifier: Apache-2.0
// Stub of the CUDA driver, for tests without a GPU: memory, copies, streams and events work and take time; kernels only
// take time. As with a real GPU, the host cannot access device memory by its address. This file: devices, contexts,
// memory.
#include "base/gpu/cuda_driver.hpp"
#include "testing/cuda_stub/current_device.hpp"
#include "testing/cuda_stub/memory.hpp"
#include "testing/cuda_stub/timeline.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

using base::cuda::Address;
using base::cuda::Context;
using base::cuda::Device;
using base::cuda::Result;

namespace {

constexpr Result success = 0;
constexpr Result invalid_value = 1;
constexpr Result out_of_memory = 2;
constexpr Result no_device = 100;
constexpr Result invalid_device = 101;
constexpr Result invalid_context = 201;

struct ErrorName {
    Result code;
    const char* name;
};
constexpr std::array error_names{ErrorName{success, "CUDA_SUCCESS"},
                                 ErrorName{invalid_value, "CUDA_ERROR_INVALID_VALUE"},
                                 ErrorName{out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                 ErrorName{no_device, "CUDA_ERROR_NO_DEVICE"},
                                 ErrorName{invalid_device, "CUDA_ERROR_INVALID_DEVICE"},
                                 ErrorName{invalid_context, "CUDA_ERROR_INVALID_CONTEXT"},
                                 ErrorName{400, "CUDA_ERROR_INVALID_HANDLE"},
                                 ErrorName{500, "CUDA_ERROR_NOT_FOUND"},
                                 ErrorName{600, "CUDA_ERROR_NOT_READY"}};

thread_local int current = -1;

int devices()
{
    return static_cast<int>(
        std::clamp<std::int64_t>(cuda_stub::setting("CUDA_STUB_DEVICES", 1), 0, cuda_stub::most_devices));
}

bool is_device(Device device)
{
    return device >= 0 && device < devices();
}

Context context_of(Device device)
{
    static std::array<char, cuda_stub::most_devices> contexts;
    return &contexts[static_cast<std::size_t>(device)];
}

struct Attribute {
    int number;
    int value;
};
constexpr std::array attributes{Attribute{1, 1024},        // threads per block
                                Attribute{10, 32},         // threads per warp
                                Attribute{13, 1'000'000},  // clock rate, kHz
                                Attribute{16, 8},          // multiprocessors
                                Attribute{36, 1'000'000},  // memory clock rate, kHz
                                Attribute{37, 256},        // memory bus width, bits
                                Attribute{38, 4 << 20},    // L2 cache, bytes
                                Attribute{39, 2048},       // threads per multiprocessor
                                Attribute{40, 2},          // copy engines
                                Attribute{41, 1},          // unified addressing
                                Attribute{75, 9},          // compute capability, major
                                Attribute{81, 65536}};     // shared memory per multiprocessor, bytes

}  // namespace

int cuda_stub::current_device()
{
    return current;
}

extern "C" {

Result cuInit(unsigned)
{
    return devices() > 0 ? success : no_device;
}

Result cuDriverGetVersion(int* version)
{
    *version = 13000;
    return success;
}

Result cuGetErrorName(Result code, const char** name)
{
    const auto* const found = std::ranges::find(error_names, code, &ErrorName::code);
    *name = found == error_names.end() ? nullptr : found->name;
    return found == error_names.end() ? invalid_value : success;
}

Result cuGetErrorString(Result code, const char** text)
{
    const Result found = cuGetErrorName(code, text);
    if (found == success) *text = code == no_device ? "no CUDA-capable device is detected" : "said by the stub";
    return found;
}

Result cuDeviceGetCount(int* count)
{
    *count = devices();
    return success;
}

Result cuDeviceGet(Device* device, int ordinal)
{
    if (!is_device(ordinal)) return invalid_device;
    *device = ordinal;
    return success;
}

Result cuDeviceGetName(char* name, int length, Device device)
{
    if (!is_device(device)) return invalid_device;
    std::snprintf(name, static_cast<std::size_t>(length), "CUDA stub");
    return success;
}

Result cuDeviceTotalMem_v2(std::size_t* bytes, Device device)
{
    if (!is_device(device)) return invalid_device;
    *bytes = static_cast<std::size_t>(cuda_stub::setting("CUDA_STUB_MEMORY", std::int64_t{1} << 30));
    return success;
}

Result cuDeviceGetAttribute(int* value, int attribute, Device device)
{
    if (!is_device(device)) return invalid_device;
    const auto* const found =
        std::ranges::find_if(attributes, [&](const Attribute& one) { return one.number == attribute; });
    *value = found == attributes.end() ? 0 : found->value;
    if (attribute == 33) *value = device + 1;  // PCI bus id
    return success;
}

Result cuDeviceGetPCIBusId(char* id, int length, Device device)
{
    if (!is_device(device)) return invalid_device;
    std::snprintf(id, static_cast<std::size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(device + 1));
    return success;
}

Result cuDevicePrimaryCtxSetFlags_v2(Device device, unsigned)
{
    return is_device(device) ? success : invalid_device;
}

Result cuDevicePrimaryCtxRetain(Context* context, Device device)
{
    if (!is_device(device)) return invalid_device;
    *context = context_of(device);
    return success;
}

Result cuDevicePrimaryCtxRelease_v2(Device device)
{
    return is_device(device) ? success : invalid_device;
}

Result cuCtxSetCurrent(Context context)
{
    current = -1;
    if (context == nullptr) return success;
    for (int device = 0; device < devices(); ++device)
        if (context_of(device) == context) current = device;
    return current < 0 ? invalid_context : success;
}

Result cuCtxGetCurrent(Context* context)
{
    *context = current < 0 ? nullptr : context_of(current);
    return success;
}

Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total)
{
    if (current < 0) return invalid_context;
    cuDeviceTotalMem_v2(total, current);
    *free = *total - static_cast<std::size_t>(cuda_stub::bytes_in_use(current));
    return success;
}

Result cuMemAlloc_v2(Address* address, std::size_t bytes)
{
    if (current < 0) return invalid_context;
    if (bytes == 0) return invalid_value;
    *address = cuda_stub::allocate(current, bytes);
    return *address == 0 ? out_of_memory : success;
}

Result cuMemFree_v2(Address address)
{
    return cuda_stub::release(address) ? success : invalid_value;
}

Result cuMemHostAlloc(void** memory, std::size_t bytes, unsigned)
{
    if (current < 0) return invalid_context;
    *memory = cuda_stub::allocate_pinned(bytes);
    return success;
}

Result cuMemFreeHost(void* memory)
{
    return cuda_stub::release_pinned(memory) ? success : invalid_value;
}

Result cuPointerGetAttribute(void* value, int attribute, Address address)
{
    const int device = cuda_stub::device_of(address);
    if (device < 0 || attribute != base::cuda::pointer_memory_type) return invalid_value;
    std::memcpy(value, &base::cuda::memory_of_device, sizeof base::cuda::memory_of_device);
    return success;
}
}
