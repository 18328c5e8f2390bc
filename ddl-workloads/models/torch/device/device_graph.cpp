// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch/device/device_graph.hpp"

#include "base/error.hpp"

#ifdef CROSSTALK_TORCH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>
#endif

namespace ddl {

#ifdef CROSSTALK_TORCH_CUDA

namespace {

class CudaGraph : public DeviceGraph {
 public:
    explicit CudaGraph(const CudaGraph* shares_memory)
        : pool_{shares_memory != nullptr ? shares_memory->pool_ : at::cuda::graph_pool_handle()}
    {
    }

    // Records on a stream that calls of other threads do not wait for.
    void record(const std::function<void()>& work) override
    {
        const c10::cuda::CUDAStream computes = c10::cuda::getCurrentCUDAStream();
        computes.synchronize();
        const c10::cuda::CUDAStreamGuard beside{c10::cuda::getStreamFromPool()};
        graph_.capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
        work();
        graph_.capture_end();
    }

    void replay() override { graph_.replay(); }

 private:
    at::cuda::MempoolId_t pool_;
    at::cuda::CUDAGraph graph_;
};

}  // namespace

std::unique_ptr<DeviceGraph> make_device_graph(const DeviceGraph* shares_memory)
{
    return std::make_unique<CudaGraph>(static_cast<const CudaGraph*>(shares_memory));
}

#else

std::unique_ptr<DeviceGraph> make_device_graph(const DeviceGraph*)
{
    base::unavailable("--cuda-graphs: this was built without CUDA (docs/installing.md)");
}

#endif

}  // namespace ddl
