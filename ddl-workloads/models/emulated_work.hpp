// SPDX-License-Identifier: Apache-2.0
// Real work for models that do not learn, which noise can slow down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ddl {

class EmulatedWork {
 public:
    virtual ~EmulatedWork() = default;
    // Does one piece of work, about ten microseconds.
    virtual void piece() = 0;
    // Measures for a tenth of a second: the median duration of a piece on this machine in its present state.
    double ns_per_piece();
};

// Products of small matrices that fit into the core's private cache. A piece is one product.
class MatrixProducts : public EmulatedWork {
 public:
    static constexpr std::size_t side = 64;
    static constexpr std::int64_t flops_of_a_row = 2 * side * side;

    void piece() override;
    void row();  // computes the next row of a product

 private:
    std::vector<float> a_ = std::vector<float>(side * side, 0.5F);
    std::vector<float> b_ = std::vector<float>(side * side, 2.0F);
    std::vector<float> c_ = std::vector<float>(side * side);
    std::size_t row_ = 0;
};

// STREAM triad over 256 MiB, which is more than most last-level caches hold.
std::unique_ptr<EmulatedWork> memory_streaming();

}  // namespace ddl
