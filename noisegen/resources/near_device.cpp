// SPDX-License-Identifier: Apache-2.0
#include "noisegen/resources/near_device.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/gpu/cuda_driver.hpp"
#include "base/words.hpp"
#include "noisegen/stressors/gpu/gpu_options.hpp"

namespace noisegen {

namespace {

namespace fs = std::filesystem;

constexpr const char* gpu_word = "gpu:";
constexpr const char* pci_word = "pci:";

bool is_hexadecimal(const std::string& text, std::size_t digits)
{
    return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string pci_id_of(const std::string& device)
{
    if (device.starts_with(pci_word)) return parse_pci_id(device.substr(4));
    const std::string number = device.starts_with(gpu_word) ? device.substr(4) : "";
    if (number.empty() || number.size() > 4 || number.find_first_not_of("0123456789") != std::string::npos)
        base::fail_usage("'", device, "' is not a device, such as gpu:0 or pci:0000:17:00.0");
    return base::cuda::pci_id(gpu_number(number, {}));
}

}  // namespace

std::string parse_pci_id(const std::string& text)
{
    const std::string lower = base::lower_case(text);
    const std::vector<std::string> parts = base::split(lower, ':');
    const std::string domain = parts.size() == 3 ? parts[0] : "0000";
    const std::string bus = parts.size() < 2 ? "" : parts[parts.size() - 2];
    const std::string function = parts.empty() ? "" : parts.back();
    const bool is_domain = is_hexadecimal(domain, 4) || (is_hexadecimal(domain, 8) && domain.starts_with("0000"));
    const bool is_function = function.size() == 4 && function[2] == '.' && is_hexadecimal(function.substr(0, 2), 2) &&
                             function[3] >= '0' && function[3] <= '7';
    if (parts.size() > 3 || !is_domain || !is_hexadecimal(bus, 2) || !is_function)
        base::fail_usage("'", text, "' is not a device on the PCI bus, such as 0000:17:00.0");
    return domain.substr(domain.size() - 4) + ":" + bus + ":" + function;
}

base::CpuSet cpus_near(const std::string& option, const std::string& device, const fs::path& root)
try {
    const std::string id = pci_id_of(device);
    const fs::path folder = root / "sys/bus/pci/devices" / id;
    if (!fs::exists(folder)) base::fail_usage(device, ": there is no ", folder.string());
    const fs::path near = folder / "local_cpulist";
    const std::string list = fs::exists(near) ? std::string{base::trim(base::read_whole(near))} : "";
    if (list.empty()) base::fail_usage(device, ": the kernel reports no CPUs near ", id);
    return base::parse_cpus(list);
} catch (const base::UsageError& error) {
    base::fail_usage(option, ": ", error.what());
} catch (const base::Unavailable& error) {
    base::unavailable(option, " ", device, ": ", error.what());
}

}  // namespace noisegen
