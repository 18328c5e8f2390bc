// SPDX-License-Identifier: Apache-2.0
// NVIDIA's NCCL (libnccl.so.2), loaded at first use; LibTorch for CUDA ships one. Types and constants are those of
// nccl.h, whose binary interface later versions keep.
#pragma once

#include "base/gpu/cuda_driver.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace ddl::nccl {

using Result = int;                      // ncclResult_t
using Communicator = void*;              // ncclComm_t
using UniqueId = std::array<char, 128>;  // ncclUniqueId

constexpr Result success = 0;
constexpr Result in_progress = 7;
constexpr int float32 = 7;  // ncclFloat32
constexpr int mean = 4;     // ncclAvg

// X(member, symbol, parameters)
#define CROSSTALK_NCCL_FUNCTIONS(X)                                                                       \
    X(version, ncclGetVersion, (int* version))                                                            \
    X(unique_id, ncclGetUniqueId, (UniqueId * id))                                                        \
    X(connect, ncclCommInitRank, (Communicator * communicator, int ranks, UniqueId id, int rank))         \
    X(disconnect, ncclCommDestroy, (Communicator communicator))                                           \
    X(abort, ncclCommAbort, (Communicator communicator))                                                  \
    X(failure, ncclCommGetAsyncError, (Communicator communicator, Result * failure))                      \
    X(all_reduce, ncclAllReduce,                                                                          \
      (const void* from, void* to, std::size_t count, int type, int operation, Communicator communicator, \
       base::cuda::Stream stream))

struct Library {
#define CROSSTALK_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
    CROSSTALK_NCCL_FUNCTIONS(CROSSTALK_MEMBER)
#undef CROSSTALK_MEMBER
    const char* (*error_string)(Result code) = nullptr;
    const char* (*last_error)(Communicator communicator) = nullptr;
};

// Uses the library that this process has already loaded, else the system's. Throws Unavailable if there is none.
const Library& library();

// Version as a text, such as "2.28.9".
std::string version();

// Throws Error "NCCL cannot WHAT: .." unless `code` is success.
void check(Result code, const char* what);

}  // namespace ddl::nccl
