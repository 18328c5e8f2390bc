// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/gpu_clockwork.hpp"

#include <array>

namespace ddl {

namespace {

constexpr unsigned threads_of_a_block = 128;

// PTX, compiled by the driver for GPUs since Turing. %globaltimer counts ns.
constexpr const char* keep_busy_text = R"(
.version 6.3
.target sm_75
.address_size 64

.visible .entry keep_busy_ns(.param .u64 length)
{
    .reg .u64 %length, %begin, %now, %passed;
    .reg .pred %goes_on;
    ld.param.u64 %length, [length];
    mov.u64 %begin, %globaltimer;
AGAIN:
    mov.u64 %now, %globaltimer;
    sub.u64 %passed, %now, %begin;
    setp.lt.u64 %goes_on, %passed, %length;
    @%goes_on bra AGAIN;
    ret;
}
)";

}  // namespace

GpuClockwork::GpuClockwork(int preferred) : driver_{base::cuda::driver()}
{
    using base::cuda::check;
    int devices = 0;
    check(driver_.device_count(&devices), "count the GPUs");
    number_ = preferred % devices;
    check(driver_.device(&device_, number_), "take the GPU");
    check(driver_.context_flags(device_, base::cuda::context_blocking_sync), "let the CPU sleep while the GPU works");
    base::cuda::Context context = nullptr;
    check(driver_.retain_context(&context, device_), "take the GPU");
    check(driver_.use_context(context), "use the GPU");
    int blocks = 0;
    check(driver_.device_attribute(&blocks, base::cuda::multiprocessors, device_), "count multiprocessors");
    blocks_ = static_cast<unsigned>(blocks);
    check(driver_.load_module(&module_, keep_busy_text), "load a kernel");
    check(driver_.function(&keep_busy_, module_, "keep_busy_ns"), "find a kernel");
}

GpuClockwork::~GpuClockwork()
{
    driver_.synchronize();
    driver_.unload_module(module_);
    driver_.release_context(device_);
}

void GpuClockwork::work(std::int64_t length_ns)
{
    if (length_ns <= 0) return;
    begin_work(length_ns);
    base::cuda::check(driver_.synchronize(), "work on the GPU");
}

void GpuClockwork::begin_work(std::int64_t length_ns)
{
    auto length = static_cast<std::uint64_t>(length_ns);
    std::array<void*, 1> parameters{&length};
    base::cuda::check(
        driver_.launch(keep_busy_, blocks_, 1, 1, threads_of_a_block, 1, 1, 0, nullptr, parameters.data(), nullptr),
        "start work on the GPU");
}

}  // namespace ddl
