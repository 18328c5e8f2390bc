// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/devices/device_plan.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <vector>

namespace ddl {

namespace {

constexpr const char* numbered = "cuda:";
constexpr std::size_t most_digits = 4;

bool is_number(const std::string& text)
{
    return !text.empty() && text.size() <= most_digits && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

DevicePlan parse_device(const std::string& text)
{
    DevicePlan plan;
    if (text == "cpu") return plan;
    plan.kind = text == "staged" ? DeviceKind::staged : DeviceKind::cuda;
    if (text == "staged" || text == "cuda") return plan;
    const std::string number = text.starts_with(numbered) ? text.substr(std::string{numbered}.size()) : "";
    const std::vector<std::string> known{"cpu", "cuda", "staged"};
    if (!is_number(number))
        base::fail_usage("--device ", text, " is not cpu, cuda, cuda:NUMBER or staged",
                         base::did_you_mean(text, known));
    plan.number = base::parse<int>(number);
    return plan;
}

void add_device_options(base::Options& options, DevicePlan& plan)
{
    options.add_word(
        "device", "cpu",
        "device of LibTorch models: cpu; cuda (the GPU of the local rank); cuda:1; staged (the CPU, with the copies "
        "that a GPU needs)",
        "DEVICE");
    options.add_choice("precision", "fp32", {"fp32", "tf32", "bf16"},
                       "bf16: autocast, parameters stay fp32; tf32: TF32 matrix products on a GPU");
    options.add_switch("deterministic",
                       "use only deterministic algorithms on a GPU (slower); implied by --trials and --golden");
    options.add_switch("sync-phases", "synchronise with the device at the end of each phase (slower)");
    options.add_switch("cuda-graphs", "run forward and backward as CUDA graphs");
    options.then([&options, &plan] {
        plan = parse_device(options.text("device"));
        for (const Compute compute : {Compute::fp32, Compute::tf32, Compute::bf16})
            if (options.text("precision") == text(compute)) plan.compute = compute;
        plan.deterministic = options.is_on("deterministic");
        plan.sync_phases = options.is_on("sync-phases");
        plan.graphs = options.is_on("cuda-graphs");
        if (plan.kind == DeviceKind::cuda) return;
        if (plan.compute == Compute::tf32) base::fail_usage("--precision tf32 needs --device cuda");
        if (plan.sync_phases) base::fail_usage("--sync-phases needs --device cuda");
        if (plan.graphs) base::fail_usage("--cuda-graphs needs --device cuda");
    });
}

}  // namespace ddl
