// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch/device/host_copies.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace ddl {

namespace {

std::span<std::byte> memory_of(const torch::Tensor& tensor)
{
    return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

bool fits(const torch::Tensor& copy, const torch::Tensor& tensor)
{
    return copy.defined() && copy.numel() == tensor.numel() && copy.scalar_type() == tensor.scalar_type();
}

}  // namespace

torch::Tensor in_memory_order(const torch::Tensor& tensor)
{
    if (!tensor.is_non_overlapping_and_dense()) base::fail("a tensor of the model is not contiguous");
    return tensor.detach().as_strided({tensor.numel()}, {1});
}

const std::vector<std::span<std::byte>>& HostCopies::of(const std::vector<torch::Tensor>& tensors)
{
    forget();
    std::vector<std::shared_ptr<Arrival>> arrivals;
    for (std::size_t place = 0; place < tensors.size(); ++place)
        arrivals.push_back(begin(place, tensors[place]).arrival);
    for (const std::shared_ptr<Arrival>& arrival : arrivals)
        if (arrival) arrival->wait();
    return bytes_;
}

HostCopies::Begun HostCopies::begin(std::size_t place, const torch::Tensor& tensor)
{
    const torch::Tensor flat = in_memory_order(tensor);
    if (bytes_.size() <= place) bytes_.resize(place + 1);
    if (!device_.is_apart(tensor)) return {bytes_[place] = memory_of(flat), nullptr};
    if (here_.size() <= place) here_.resize(place + 1);
    if (there_.size() <= place) there_.resize(place + 1);
    if (!fits(here_[place], flat)) here_[place] = device_.host_memory(flat);
    there_[place] = flat;
    return {bytes_[place] = memory_of(here_[place]), device_.to_host(flat, here_[place])};
}

void HostCopies::put_back() const
{
    for (std::size_t place = 0; place < there_.size(); ++place)
        if (there_[place].defined()) device_.to_device(here_[place], there_[place]);
}

bool HostCopies::gave(std::span<const std::byte> memory) const
{
    return std::any_of(bytes_.begin(), bytes_.end(),
                       [&](std::span<const std::byte> bytes) { return bytes.data() == memory.data(); });
}

void HostCopies::forget()
{
    there_.clear();
    bytes_.clear();
}

void SeenLoss::see(const torch::Tensor& loss)
{
    if (!device_.is_apart()) {
        here_ = loss.detach();
        return;
    }
    if (arrival_) arrival_->wait();  // the previous loss was never read
    if (!here_.defined()) here_ = device_.host_memory(loss.detach());
    arrival_ = device_.to_host(loss.detach(), here_);
}

std::optional<double> SeenLoss::value() const
{
    if (!here_.defined()) return std::nullopt;
    if (const std::shared_ptr<Arrival> arrival = std::exchange(arrival_, nullptr)) arrival->wait();
    return here_.item<double>();
}

}  // namespace ddl
