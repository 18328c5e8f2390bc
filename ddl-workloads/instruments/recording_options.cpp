// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/instruments/recording_options.hpp"

#include "base/contract/variables.hpp"
#include "base/error.hpp"
#include "trace-tools/gpu/recording/gpu_recording.hpp"

namespace ddl {

RecordingOptions::RecordingOptions(base::Options& options, RecordingPlan& plan)
    : options_{options}, plan_{plan}, level_{text(plan.level)}
{
    options.group("Records");
    options.add_choice("trace", trace_, {"on", "off"}, "record an OTF2 trace");
    options.add(
        "trace-memory", plan.memory,
        "trace buffer per rank; when full it is flushed, which interrupts a thread (region TRACE BUFFER FLUSH); 0: "
        "256KiB per thread",
        "SIZE");
    options.add_choice(
        "instrument", level_, {"L0", "L1", "L2", "L3"},
        "detail of the trace: L0 phases and buckets, L1 also modules and the gradient norm, L2 also LibTorch's "
        "operators, L3 also nested operators");
    options.add("trace-steps", steps_,
                "FIRST:END:EVERY: only steps FIRST, FIRST + EVERY, ... before END record more than L0 (default: all)",
                "STEPS");
    options.add_switch("trace-gpu", gpu_,
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
}

void RecordingOptions::read() const
{
    plan_.trace = trace_ == "on";
    plan_.level = parse_detail_level(level_);
    if (!steps_.empty() && plan_.level == DetailLevel::L0)
        base::fail_usage("--trace-steps needs --instrument L1, L2 or L3");
    plan_.steps = parse_trace_steps(steps_);
    plan_.gpu = plan_.trace && (gpu_ || gpu::activities_wanted());
    if (gpu_ && !plan_.trace) base::fail_usage("--trace-gpu needs a trace: --trace on");
    if (options_.given("trace-memory") && !plan_.trace)
        base::fail_usage("--trace-memory ", base::format(plan_.memory), " needs a trace: --trace on");
    if (options_.given("metrics") && plan_.metrics != "none" && !plan_.trace)
        base::fail_usage("--metrics ", plan_.metrics, " needs a trace: --trace on");
    if (!plan_.trace && plan_.level != DetailLevel::L0)
        base::fail_usage("--instrument ", text(plan_.level), " needs a trace: --trace on");
}

}  // namespace ddl
