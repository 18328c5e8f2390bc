// SPDX-License-Identifier: Apache-2.0
// Copies between a device and the host, with the CPU as the device: when they are made, and which are copied back.
#include "ddl-workloads/models/torch/device/torch_device.hpp"

#include "ddl-workloads/models/torch/device/host_copies.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace {

const ddl::TorchDevice& cpu()
{
    static const ddl::TorchDevice device{{}};
    return device;
}

const ddl::TorchDevice& staged()
{
    static const ddl::TorchDevice device{ddl::parse_device("staged")};
    return device;
}

std::size_t bytes_each(const torch::Tensor& tensor)
{
    return tensor.element_size();
}

float& first_float(std::span<std::byte> bytes)
{
    return *reinterpret_cast<float*>(bytes.data());
}

}  // namespace

TEST_CASE("a copy to the host is there once it was waited for")
{
    const torch::Tensor there = torch::full({3}, 7.0F);
    const torch::Tensor here = torch::zeros({3});
    const auto arrival = staged().to_host(there, here);
    CHECK(here[0].item<float>() == 0.0F);
    arrival->wait();
    CHECK(here.equal(there));
}

TEST_CASE("tensors of the CPU are seen where they are")
{
    const torch::Tensor tensor = torch::ones({2, 2});
    ddl::HostCopies copies{cpu()};
    const auto bytes = copies.of({tensor});
    REQUIRE(bytes.size() == 1);
    CHECK(static_cast<void*>(bytes[0].data()) == tensor.data_ptr());
    CHECK_FALSE(copies.stands_for_device());
    CHECK(cpu().moved(tensor).is_same(tensor));
}

TEST_CASE("what is written into copies of a device's tensors goes there when they are put back")
{
    const torch::Tensor weight = torch::ones({2, 3}).set_requires_grad(true);
    const torch::Tensor steps = torch::full({}, 5, torch::kInt64);
    ddl::HostCopies copies{staged()};
    const auto bytes = copies.of({weight, steps});
    REQUIRE(bytes.size() == 2);
    CHECK(bytes[0].size() == 24);
    CHECK(bytes[1].size() == 8);
    CHECK(copies.stands_for_device());
    CHECK(copies.gave(bytes[1]));
    first_float(bytes[0]) = 9.0F;
    CHECK(weight[0][0].item<float>() == 1.0F);
    copies.put_back();
    CHECK(weight[0][0].item<float>() == 9.0F);
    CHECK(weight[1][2].item<float>() == 1.0F);
    CHECK(steps.item<std::int64_t>() == 5);
    copies.forget();
    first_float(bytes[0]) = 10.0F;
    copies.put_back();
    CHECK(weight[0][0].item<float>() == 9.0F);
}

TEST_CASE("a tensor is copied in the order of its memory")
{
    const torch::Tensor columns = torch::arange(6, torch::kFloat).view({2, 3}).t();
    ddl::HostCopies copies{staged()};
    const auto* const numbers = reinterpret_cast<const float*>(copies.of({columns}).front().data());
    for (int i = 0; i < 6; ++i) CHECK(numbers[i] == static_cast<float>(i));
    CHECK_THROWS_AS(copies.of({torch::ones({4, 4}).narrow(1, 0, 2)}), base::Error);
}

TEST_CASE("a loss is seen when it is asked for, and the last one counts")
{
    for (const ddl::TorchDevice* device : {&cpu(), &staged()}) {
        ddl::SeenLoss loss{*device};
        CHECK_FALSE(loss.value());
        loss.see(torch::full({}, 3.0F));
        loss.see(torch::full({}, 2.5F).set_requires_grad(true));
        CHECK(loss.value() == 2.5);
        CHECK(loss.value() == 2.5);
    }
}

TEST_CASE("a bucket that came back completes its future")
{
    const ddl::TorchDevice::Future future = staged().future();
    const torch::Tensor bucket = torch::zeros({4});
    CHECK_FALSE(future->completed());
    staged().complete(future, torch::ones({4}), bucket);
    CHECK(future->completed());
    CHECK(bucket.equal(torch::ones({4})));
    CHECK(future->value().toTensor().is_same(bucket));
}

TEST_CASE("matrix products are in 16 bits under autocast and nowhere else")
{
    ddl::DevicePlan plan;
    plan.compute = ddl::Compute::bf16;
    const ddl::TorchDevice half{plan};
    const torch::Tensor one = torch::ones({4, 4});
    {
        const ddl::Autocast autocast{half};
        CHECK(bytes_each(torch::mm(one, one)) == 2);
        CHECK(bytes_each(one + one) == 4);
    }
    CHECK(bytes_each(torch::mm(one, one)) == 4);
    const ddl::Autocast none{cpu()};
    CHECK(bytes_each(torch::mm(one, one)) == 4);
}
