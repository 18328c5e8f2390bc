// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch/threads.hpp"

#include <torch/torch.h>

#include <mutex>

// Debian's LibTorch uses OpenBLAS, which has its own threads. Other builds of LibTorch lack these functions.
extern "C" void openblas_set_num_threads(int threads) __attribute__((weak));
extern "C" int openblas_get_num_threads() __attribute__((weak));

namespace ddl {

void limit_threads(int threads)
{
    at::set_num_threads(threads);
    static std::once_flag said;  // LibTorch accepts the number only once per process
    std::call_once(said, [] { at::set_num_interop_threads(1); });
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(threads);
}

std::optional<int> openblas_threads()
{
    if (openblas_get_num_threads == nullptr) return std::nullopt;
    return openblas_get_num_threads();
}

}  // namespace ddl
