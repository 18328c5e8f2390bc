// SPDX-License-Identifier: Apache-2.0
// NVIDIA's driver (libcuda.so.1), loaded on first use: no program is linked with CUDA, and none needs the CUDA toolkit
// to be built. Types and numbers are those of cuda.h, whose binary interface later drivers keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace base::cuda {

using Result = int;             // CUresult
using Device = int;             // CUdevice
using Address = std::uint64_t;  // CUdeviceptr
using Context = void*;          // CUcontext
using Stream = void*;           // CUstream
using Event = void*;            // CUevent
using Module = void*;           // CUmodule
using Function = void*;         // CUfunction

constexpr Result success = 0;
constexpr Result out_of_memory = 2;
constexpr Result no_device = 100;
constexpr Result not_ready = 600;

constexpr unsigned stream_non_blocking = 1;    // CU_STREAM_NON_BLOCKING
constexpr unsigned event_blocking_sync = 1;    // CU_EVENT_BLOCKING_SYNC
constexpr unsigned event_disable_timing = 2;   // CU_EVENT_DISABLE_TIMING
constexpr unsigned context_blocking_sync = 4;  // CU_CTX_SCHED_BLOCKING_SYNC
constexpr unsigned host_memory_portable = 1;   // CU_MEMHOSTALLOC_PORTABLE
constexpr int pointer_memory_type = 2;         // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr unsigned memory_of_device = 2;       // CU_MEMORYTYPE_DEVICE
constexpr int multiprocessors = 16;            // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
constexpr int compute_capability_major = 75;   // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int compute_capability_minor = 76;   // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR

// X(member, symbol, parameters)
#define CROSSTALK_CUDA_FUNCTIONS(X)                                                                              \
    X(init, cuInit, (unsigned flags))                                                                            \
    X(driver_version, cuDriverGetVersion, (int* version))                                                        \
    X(error_name, cuGetErrorName, (Result code, const char** name))                                              \
    X(error_string, cuGetErrorString, (Result code, const char** text))                                          \
    X(device_count, cuDeviceGetCount, (int* count))                                                              \
    X(device, cuDeviceGet, (Device * device, int ordinal))                                                       \
    X(device_name, cuDeviceGetName, (char* name, int length, Device device))                                     \
    X(device_memory, cuDeviceTotalMem_v2, (std::size_t * bytes, Device device))                                  \
    X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, Device device))                        \
    X(pci_bus_id, cuDeviceGetPCIBusId, (char* id, int length, Device device))                                    \
    X(context_flags, cuDevicePrimaryCtxSetFlags_v2, (Device device, unsigned flags))                             \
    X(retain_context, cuDevicePrimaryCtxRetain, (Context * context, Device device))                              \
    X(release_context, cuDevicePrimaryCtxRelease_v2, (Device device))                                            \
    X(use_context, cuCtxSetCurrent, (Context context))                                                           \
    X(current_context, cuCtxGetCurrent, (Context * context))                                                     \
    X(synchronize, cuCtxSynchronize, ())                                                                         \
    X(memory_info, cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                                   \
    X(allocate, cuMemAlloc_v2, (Address * address, std::size_t bytes))                                           \
    X(free, cuMemFree_v2, (Address address))                                                                     \
    X(allocate_host, cuMemHostAlloc, (void** memory, std::size_t bytes, unsigned flags))                         \
    X(free_host, cuMemFreeHost, (void* memory))                                                                  \
    X(pointer_attribute, cuPointerGetAttribute, (void* value, int attribute, Address address))                   \
    X(copy_to_device, cuMemcpyHtoDAsync_v2, (Address to, const void* from, std::size_t bytes, Stream stream))    \
    X(copy_to_host, cuMemcpyDtoHAsync_v2, (void* to, Address from, std::size_t bytes, Stream stream))            \
    X(copy_inside, cuMemcpyDtoDAsync_v2, (Address to, Address from, std::size_t bytes, Stream stream))           \
    X(set_bytes, cuMemsetD8Async, (Address to, unsigned char value, std::size_t bytes, Stream stream))           \
    X(set_words, cuMemsetD32Async, (Address to, unsigned value, std::size_t count, Stream stream))               \
    X(create_stream, cuStreamCreate, (Stream * stream, unsigned flags))                                          \
    X(create_stream_of_priority, cuStreamCreateWithPriority, (Stream * stream, unsigned flags, int priority))    \
    X(stream_priorities, cuCtxGetStreamPriorityRange, (int* least, int* greatest))                               \
    X(destroy_stream, cuStreamDestroy_v2, (Stream stream))                                                       \
    X(query_stream, cuStreamQuery, (Stream stream))                                                              \
    X(synchronize_stream, cuStreamSynchronize, (Stream stream))                                                  \
    X(wait_event, cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                               \
    X(create_event, cuEventCreate, (Event * event, unsigned flags))                                              \
    X(destroy_event, cuEventDestroy_v2, (Event event))                                                           \
    X(record_event, cuEventRecord, (Event event, Stream stream))                                                 \
    X(query_event, cuEventQuery, (Event event))                                                                  \
    X(synchronize_event, cuEventSynchronize, (Event event))                                                      \
    X(elapsed_ms, cuEventElapsedTime, (float* ms, Event begin, Event end))                                       \
    X(load_module, cuModuleLoadData, (Module * module, const void* image))                                       \
    X(unload_module, cuModuleUnload, (Module module))                                                            \
    X(function, cuModuleGetFunction, (Function * function, Module module, const char* name))                     \
    X(launch, cuLaunchKernel,                                                                                    \
      (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
       unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra))

struct Driver {
#define CROSSTALK_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
    CROSSTALK_CUDA_FUNCTIONS(CROSSTALK_MEMBER)
#undef CROSSTALK_MEMBER
};

// The driver, loaded and initialised. Throws Unavailable, with the reason, if there is no driver or no GPU that it can
// use.
const Driver& driver();

// Number of GPUs that the driver can use; 0 without a driver.
int devices();

// Name and PCI address of GPU `number`, from 0: "NVIDIA H100 80GB HBM3", "0000:17:00.0" (as in sysfs). Throws
// Unavailable without a GPU, Error for errors of CUDA.
std::string device_name(int number);
std::string pci_id(int number);

// Text of an error code: "CUDA_ERROR_OUT_OF_MEMORY: out of memory".
std::string error_text(Result code);

// Throws Error "cannot WHAT: .." unless `code` is success.
void check(Result code, const char* what);

}  // namespace base::cuda
