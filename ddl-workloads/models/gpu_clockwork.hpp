// Keeps a GPU busy for a given time, as the computation of a model would.
#pragma once

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

    // A kernel occupies every multiprocessor for so long; the calling thread sleeps until it has ended.
    void work(std::int64_t length_ns);

 private:
    int blocks_ = 1;
};

}  // namespace ddl
