// SPDX-License-Identifier: Apache-2.0
// Keeps a GPU busy for a given time, as the computation of a model would.
#pragma once

#include "base/gpu/cuda_driver.hpp"

#include <cstdint>

namespace ddl {

class GpuClockwork {
 public:
    // Takes the device number `preferred` modulo their count. Throws Unavailable without a GPU, Error for what CUDA
    // says.
    explicit GpuClockwork(int preferred);
    ~GpuClockwork();
    GpuClockwork(const GpuClockwork&) = delete;
    GpuClockwork& operator=(const GpuClockwork&) = delete;

    // Number of the GPU among those that this process may use.
    int number() const { return number_; }

    // A kernel occupies every multiprocessor for so long; the calling thread, which is the one that made this, sleeps
    // until it has ended.
    void work(std::int64_t length_ns);
    // .. or continues, while the GPU works.
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
