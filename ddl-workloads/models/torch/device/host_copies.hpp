// SPDX-License-Identifier: Apache-2.0
// Host memory that stands for some tensors of a device, one of the other as long as both are what they were.
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

    // The tensors' numbers, each in one piece: copied from the device now, or their own memory where that is the
    // host's. Until the next such call, or forget(). Throws Error for a tensor that is not contiguous.
    const std::vector<std::span<std::byte>>& of(const std::vector<torch::Tensor>& tensors);

    const std::vector<std::span<std::byte>>& all() const { return bytes_; }

    // The same of one of them, begun: its numbers are there after the arrival; null: they are there already.
    struct Begun {
        std::span<std::byte> bytes;
        std::shared_ptr<Arrival> arrival;
    };
    Begun begin(std::size_t place, const torch::Tensor& tensor);

    // Copies what was written into them to the device.
    void put_back() const;

    // Is that memory theirs, and has it a device's behind it?
    bool gave(std::span<const std::byte> memory) const;
    bool stands_for_device() const { return !there_.empty(); }

    void forget();

    // The copy of a tensor that is apart.
    const torch::Tensor& copy(std::size_t place) const { return here_.at(place); }

 private:
    const TorchDevice& device_;
    std::vector<torch::Tensor> here_;   // kept for the next time; undefined: of a tensor that is the host's
    std::vector<torch::Tensor> there_;  // empty: none, undefined: as above
    std::vector<std::span<std::byte>> bytes_;
};

// A loss, which the host sees when it asks for it, not when it is computed.
class SeenLoss {
 public:
    explicit SeenLoss(const TorchDevice& device) : device_{device} {}
    void see(const torch::Tensor& loss);
    std::optional<double> value() const;

 private:
    const TorchDevice& device_;
    torch::Tensor here_;
    mutable std::shared_ptr<Arrival> arrival_;  // null: it is there
};

// All elements of a tensor in the order of its memory. Throws Error if that has holes.
torch::Tensor in_memory_order(const torch::Tensor& tensor);

}  // namespace ddl
