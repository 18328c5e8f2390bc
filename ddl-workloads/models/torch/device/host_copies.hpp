// SPDX-License-Identifier: Apache-2.0
// Host copies of device tensors, reused as long as the tensors keep their sizes and types.
#pragma once

#include "ddl-workloads/models/torch/device/torch_device.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ddl {

class HostCopies {
 public:
    explicit HostCopies(const TorchDevice& device) : device_{device} {}

    // The data of each tensor in one contiguous piece: copied from the device now, or the tensor's own memory if that
    // is host memory. Valid until the next call or forget(). Throws Error for a tensor that is not contiguous.
    const std::vector<std::span<std::byte>>& of(const std::vector<torch::Tensor>& tensors);

    const std::vector<std::span<std::byte>>& all() const { return bytes_; }

    // Starts the copy of one tensor. Its bytes are valid after `arrival`; null: they are already valid.
    struct Begun {
        std::span<std::byte> bytes;
        std::shared_ptr<Arrival> arrival;
    };
    Begun begin(std::size_t place, const torch::Tensor& tensor);

    // Copies changes made to the host copies back to the device.
    void put_back() const;

    // gave(): true if `memory` is one of these copies. stands_for_device(): true if there are copies of device memory.
    bool gave(std::span<const std::byte> memory) const;
    bool stands_for_device() const { return !there_.empty(); }

    void forget();

    // The host copy of a tensor in device memory.
    const torch::Tensor& copy(std::size_t place) const { return here_.at(place); }

 private:
    const TorchDevice& device_;
    std::vector<torch::Tensor> here_;   // kept for reuse; undefined for a tensor in host memory
    std::vector<torch::Tensor> there_;  // device tensors; empty: none; undefined as above
    std::vector<std::span<std::byte>> bytes_;
};

// A loss whose copy to the host starts when it is computed; the host waits for it only in value().
class SeenLoss {
 public:
    explicit SeenLoss(const TorchDevice& device) : device_{device} {}
    void see(const torch::Tensor& loss);
    std::optional<double> value() const;

 private:
    const TorchDevice& device_;
    torch::Tensor here_;
    mutable std::shared_ptr<Arrival> arrival_;  // null: the copy is complete
};

// All elements of a tensor as one dimension, in memory order. Throws Error if its memory has gaps.
torch::Tensor in_memory_order(const torch::Tensor& tensor);

}  // namespace ddl
