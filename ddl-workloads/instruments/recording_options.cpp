// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/instruments/recording_options.hpp"

#include "base/contract/variables.hpp"
#include "base/error.hpp"
#include "trace-tools/gpu/recording/gpu_recording.hpp"

namespace ddl {

void add_recording_options(base::Options& options, RecordingPlan& plan)
{
    options.group("Records");
    options.add_choice("trace", "on", {"on", "off"}, "record an OTF2 trace");
    options.add(
        "trace-memory", plan.memory,
        "trace buffer per rank; when full it is flushed, which interrupts a thread (region TRACE BUFFER FLUSH); 0: "
        "256KiB per thread",
        "SIZE");
    options.add_choice(
        "instrument", text(plan.level), {"L0", "L1", "L2", "L3"},
        "detail of the trace: L0 phases and buckets, L1 also modules and the gradient norm, L2 also LibTorch's "
        "operators, L3 also nested operators");
    options.add_word("trace-steps", "",
                     "FIRST:END:EVERY: only steps FIRST, FIRST + EVERY, ... before END record more than L0 (default: "
                     "all)",
                     "STEPS");
    options.add_switch("trace-gpu",
                       base::join("also record the rank's GPU with CUPTI; same as ", base::variable::trace_gpu, "=1"));
    options.add(
        "metrics", plan.metrics,
        "counters recorded per rank every tenth step: auto (available PAPI presets and software events), none, or "
        "names such as PAPI_TOT_INS,context-switches",
        "EVENT,...");
    options.add("openmetrics", plan.openmetrics,
                "rank 0 writes steps and step time to this file every 5 s for Prometheus' node exporter, e.g. "
                "/var/lib/prometheus/node-exporter/ddl-train.prom",
                "FILE");
    options.then([&options, &plan] {
        plan.trace = options.text("trace") == "on";
        plan.level = parse_detail_level(options.text("instrument"));
        const std::string& steps = options.text("trace-steps");
        if (!steps.empty() && plan.level == DetailLevel::L0)
            base::fail_usage("--trace-steps needs --instrument L1, L2 or L3");
        plan.steps = parse_trace_steps(steps);
        plan.gpu = plan.trace && (options.is_on("trace-gpu") || gpu::activities_wanted());
        if (plan.trace) return;
        const auto needs_trace = [](const auto&... option) {
            base::fail_usage(option..., " needs a trace: --trace on");
        };
        if (options.is_on("trace-gpu")) needs_trace("--trace-gpu");
        if (options.given("trace-memory")) needs_trace("--trace-memory ", base::format(plan.memory));
        if (options.given("metrics") && plan.metrics != "none") needs_trace("--metrics ", plan.metrics);
        if (plan.level != DetailLevel::L0) needs_trace("--instrument ", text(plan.level));
    });
}

}  // namespace ddl
