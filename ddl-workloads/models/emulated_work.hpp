// SPDX-License-Identifier: Apache-2.0
// Real work for models that only pretend to learn: what noise beside it can slow down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ddl {

class EmulatedWork {
 public:
    virtual ~EmulatedWork() = default;
    // Some ten microseconds.
    virtual void piece() = 0;
    // Tries it for a tenth of a second: the median time of a piece on this machine, as it is now.
    double ns_per_piece();
};

// Products of small matrices that stay in the core's own cache. A piece is a product.
class MatrixProducts : public EmulatedWork {
 public:
    static constexpr std::size_t side = 64;
    static constexpr std::int64_t flops_of_a_row = 2 * side * side;

    void piece() override;
    void row();  // the next one of a product

 private:
    std::vector<float> a_ = std::vector<float>(side * side, 0.5F);
    std::vector<float> b_ = std::vector<float>(side * side, 2.0F);
    std::vector<float> c_ = std::vector<float>(side * side);
    std::size_t row_ = 0;
};

// STREAM triad through 256 MiB, more than most last-level caches hold.
std::unique_ptr<EmulatedWork> memory_streaming();

}  // namespace ddl
