// SPDX-License-Identifier: Apache-2.0
// Models whose fully connected layers, y = x W^T + bias, can leave the products with W to a strategy.
#pragma once

#include "base/cli/capabilities.hpp"
#include "ddl-workloads/models/state_tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddl {

inline constexpr base::Capability dense_layers{"a model with fully connected layers"};
inline constexpr base::Capability single_product{"a model that is a single matrix product"};

struct DenseLayer {
    std::string name;
    std::int64_t outputs = 0;
    std::int64_t inputs = 0;
    std::span<float> weights;           // W: outputs x inputs, row-major
    std::span<float> momentum = {};     // of the same shape; empty if the optimizer has none
    std::span<const float> input = {};  // x, if it is the same in every step
    std::int64_t product_ns = 0;        // least time that computing x W^T takes; the rest of it is slept
};

// Alters numbers that a step computes (--alter), and returns the largest change; none if nothing was altered.
using AlterNumbers = std::function<std::optional<double>(const StateTensor& numbers)>;

// Called by the model on the main thread, in the same order on all ranks. Layers are numbered as in dense_layers().
// x and dx are rows x inputs, y and dy rows x outputs, row-major.
class DenseProducts {
 public:
    virtual ~DenseProducts() = default;
    // True: these products keep the weights and update them; those of the model are out of date until complete().
    // False: the model updates its weights as if it computed the products itself, and then calls update().
    virtual bool keeps_weights() const = 0;
    // y = x W^T; x is altered only by alter_by().
    virtual void forward(std::size_t layer, std::span<float> x, std::span<float> y) = 0;
    // dx = dy W, unless dx is empty; if weights are kept, adds dy^T x to their gradient.
    virtual void backward(std::size_t layer, std::span<const float> x, std::span<const float> dy,
                          std::span<float> dx) = 0;
    virtual void update() = 0;
    // Collective: writes all weights and momenta into the memory of dense_layers().
    virtual void complete() = 0;
    // Collective: as Model::verify().
    virtual bool verify() = 0;
    // This rank's share of the weights, as Model::state() and restored().
    virtual std::vector<StateTensor> state() = 0;
    virtual void restored() = 0;
    // From now on forward passes give `alter` the paths activation/LAYER (x), product/LAYER (this rank's term of the
    // product; nothing if it has none) and decoded/LAYER (y).
    virtual void alter_by(AlterNumbers alter) = 0;
    // Call when numbers of this tensor of Model::state() were altered; size: the largest change.
    virtual void altered(const StateTensor& tensor, double size) = 0;
};

class DenseModel {
 public:
    virtual ~DenseModel() = default;
    virtual std::vector<DenseLayer> dense_layers() = 0;
    // Call once, before the first step. Throws UsageError if the model does not compute on the CPU.
    virtual void leave_products_to(DenseProducts& products) = 0;
    // Null before leave_products_to().
    virtual DenseProducts* products() = 0;
};

}  // namespace ddl
