// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/gpu/gpu_options.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/gpu/cuda_driver.hpp"

#include <nlohmann/json.hpp>

namespace noisegen {

namespace {

// PCI address of the training's first GPU from its record (training.gpu.pci_id); empty if the record has none. GPU
// numbers depend on CUDA_VISIBLE_DEVICES of the process, PCI addresses do not.
std::string gpu_of_training(const std::filesystem::path& control_run)
try {
    const std::filesystem::path record = control_run / base::part::train / base::file::run_record;
    if (control_run.empty() || !std::filesystem::exists(record)) return {};
    return nlohmann::json::parse(base::read_whole(record)).at("training").at("gpu").at("pci_id").get<std::string>();
} catch (const nlohmann::json::exception&) {
    return {};
}

int number_of_training(const std::filesystem::path& control_run, int count)
{
    const std::string id = gpu_of_training(control_run);
    for (int number = 0; number < count; ++number)
        if (base::cuda::pci_id(number) == id) return number;
    return 0;
}

}  // namespace

std::vector<base::OptionCard> with_gpu(std::vector<base::OptionCard> own)
{
    own.push_back(
        {"device", "auto", "CUDA device number (within CUDA_VISIBLE_DEVICES); auto: the training's first, else 0"});
    own.push_back({"spare", "10%", "share of the GPU's memory that must stay free"});
    return own;
}

GpuNeeds gpu_needs(const base::Settings& settings, const std::string& stressor, base::Bytes memory)
{
    GpuNeeds needs{.device = settings.text("device"), .memory = memory, .spare = settings.get<base::Percent>("spare")};
    if (needs.spare.value < 0.0 || needs.spare.value > 100.0)
        base::fail_usage(stressor, "[spare] must be 0% to 100%, not ", settings.text("spare"));
    if (needs.device != "auto" && settings.get<int>("device") < 0)
        base::fail_usage(stressor, "[device] must be a number (0 or more), or auto, not ", needs.device);
    return needs;
}

base::Bytes gpu_buffer(const base::Settings& settings, const std::string& stressor)
{
    const auto bytes = settings.get<base::Bytes>("size");
    if (bytes.count < (1 << 20))
        base::fail_usage(stressor, "[size] must be at least 1MiB, not ", settings.text("size"));
    return bytes;
}

int gpu_number(const std::string& device, const std::filesystem::path& control_run)
{
    base::cuda::driver();
    const int count = base::cuda::devices();
    const int number = device == "auto" ? number_of_training(control_run, count) : base::parse<int>(device);
    if (number >= count)
        base::fail_usage("there is no GPU ", number, "; this process has ", count,
                         ", counted from 0 (CUDA_VISIBLE_DEVICES)");
    return number;
}

}  // namespace noisegen
