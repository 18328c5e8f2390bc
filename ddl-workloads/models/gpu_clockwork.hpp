// SPDX-License-Identifier: Apache-2.0
// Keeps a GPU busy for a given time, in place of a model's computation.
#pragma once

#include "base/gpu/cuda_driver.hpp"

#include <cstdint>

namespace ddl {

class GpuClockwork {
 public:
    // Uses the device `preferred` modulo the number of devices. Throws Unavailable without a GPU, Error if a CUDA call
    // fails.
    explicit GpuClockwork(int preferred);
    ~GpuClockwork();
    GpuClockwork(const GpuClockwork&) = delete;
    GpuClockwork& operator=(const GpuClockwork&) = delete;

    // Number of the GPU among those visible to this process.
    int number() const { return number_; }

    // Runs a kernel that occupies every multiprocessor for this long. The calling thread, which must be the one that
    // made this object, sleeps until the kernel has ended.
    void work(std::int64_t length_ns);
    // Like work(), but returns while the GPU still works.
    void begin_work(std::int64_t length_ns);

 private:
    const base::cuda::Driver& driver_;
    int number_ = 0;
    base::cuda::Device device_ = 0;
    base::cuda::Module module_ = nullptr;
    base::cuda::Function keep_busy_ = nullptr;
    unsigned blocks_ = 1;
};

}  // namespace ddl
