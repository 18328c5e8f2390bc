// SPDX-License-Identifier: Apache-2.0
// CPUs near a device, from a copy of the kernel's file tree and a stub driver without a GPU.
#include "noisegen/resources/near_device.hpp"

#include "base/error.hpp"
#include "noisegen/resources/placement.hpp"
#include "testing/cuda_stub.hpp"
#include "testing/environment.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

namespace fs = std::filesystem;
using noisegen::candidates;

namespace {

// Two sockets of two NUMA nodes each, four cores a node. GPU 0 is at the second node, GPU 1 at the third.
class TwoSocketsWithGpus {
 public:
    TwoSocketsWithGpus()
    {
        device("0000:01:00.0", "8-15\n");
        device("0000:02:00.0", "16-23\n");
        device("0000:03:00.0", "\n");
        const testing::Environment synthetic{{{"HWLOC_SYNTHETIC", "pack:2 numa:2 core:4 pu:2"}}};
        machine_ = {.cores = base::physical_cores(base::parse_cpus("0-31")),
                    .allowed = base::parse_cpus("0-31"),
                    .avoided = {0},
                    .root = root_.path()};
    }

    std::string chosen(const noisegen::CpuRequest& request) const
    {
        return base::format_cpus(candidates(request, machine_));
    }
    std::string refused(const noisegen::CpuRequest& request) const
    {
        try {
            return "accepted " + chosen(request);
        } catch (const base::UsageError& error) {
            return error.what();
        }
    }
    const fs::path& root() const { return root_.path(); }

 private:
    void device(const std::string& id, const std::string& cpus) const
    {
        const fs::path folder = root_ / "sys/bus/pci/devices" / id;
        fs::create_directories(folder);
        std::ofstream{folder / "local_cpulist"} << cpus;
    }

    testing::Scratch root_;
    noisegen::Machine machine_;
};

}  // namespace

TEST_CASE("noise is on the socket of a device's PCIe root, or on the others")
{
    const TwoSocketsWithGpus two;
    CHECK(two.chosen({.near = "pci:0000:01:00.0"}) == "2-15");
    CHECK(two.chosen({.far = "pci:0000:01:00.0"}) == "16-31");
    CHECK(two.chosen({.near = "pci:02:00.0"}) == "16-31");
    CHECK(two.chosen({.numa = "1", .near = "pci:0000:01:00.0"}) == "8-15");
    CHECK(two.chosen({.cpus = "4-5,20-21", .near = "pci:0000:02:00.0"}) == "20-21");
    CHECK(two.refused({.cpus = "4-5", .far = "pci:01:00.0"}).find("on another socket than that of pci:01:00.0") !=
          std::string::npos);
}

TEST_CASE("what is near a GPU goes by the number that CUDA gives it")
{
    testing::load_cuda_stub();
    const testing::Environment gpus{{{"CUDA_STUB_DEVICES", "2"}}};
    const TwoSocketsWithGpus two;
    CHECK(two.chosen({.near = "gpu:0"}) == "2-15");
    CHECK(two.chosen({.near = "gpu:1"}) == "16-31");
    CHECK(two.chosen({.far = "gpu:1"}) == "2-15");
    CHECK(two.refused({.near = "gpu:2"}).find("--near: there is no GPU 2; this process has 2") == 0);
}

TEST_CASE("a device that is not there, or of which nothing is known, is refused by name")
{
    const TwoSocketsWithGpus two;
    CHECK(two.refused({.near = "pci:0000:09:00.0"}).find("--near: pci:0000:09:00.0: there is no ") == 0);
    CHECK(two.refused({.far = "pci:0000:03:00.0"}) ==
          "--far: pci:0000:03:00.0: the kernel reports no CPUs near 0000:03:00.0");
    for (const std::string wrong : {"gpu", "gpu:", "gpu:x", "gpu:-1", "gpu:99999", "cpu:0", "0"})
        CHECK(two.refused({.near = wrong}) ==
              "--near: '" + wrong + "' is not a device, such as gpu:0 or pci:0000:17:00.0");
    CHECK(two.refused({.near = "gpu:0", .far = "gpu:1"}) == "--near gpu:0 and --far gpu:1: give only one");
}

TEST_CASE("a device on the PCI bus is known in each way that tools write it")
{
    for (const std::string same : {"0000:17:00.0", "00000000:17:00.0", "17:00.0"})
        CHECK(noisegen::parse_pci_id(same) == "0000:17:00.0");
    CHECK(noisegen::parse_pci_id("0001:C1:1F.7") == "0001:c1:1f.7");
    for (const std::string wrong : {"", "17", "17:00", "17:00.8", "17:0.0", "1:00.0", "x7:00.0", "0000:0000:17:00.0",
                                    "00010000:17:00.0", "../17:00.0"})
        CHECK_THROWS_AS(noisegen::parse_pci_id(wrong), base::UsageError);
}

TEST_CASE("without a GPU near one is refused in a line that says why")
{
    const testing::Scratch nothing;
    const testing::Outcome outcome =
        testing::run({"env", "CUDA_VISIBLE_DEVICES=", testing::program, "placebo", "100ms", "--near", "gpu:0"});
    if (outcome.err.find("there is no GPU: ") == std::string::npos) return testing::skip("there is a GPU");
    CHECK(outcome.status == 77);
    CHECK(outcome.err.starts_with("noisegen: --near gpu:0: there is no GPU: "));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}
