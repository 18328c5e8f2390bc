// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/emulated_work.hpp"

#include "base/system/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ddl {

namespace {

class MemoryStreaming : public EmulatedWork {
 public:
    void piece() override
    {
        const std::size_t end = at_ + items;
        for (std::size_t i = at_; i < end; ++i) a_[i] = b_[i] + 0.5 * c_[i];
        at_ = end % a_.size();
    }

 private:
    static constexpr std::size_t items = 8192;
    static constexpr std::size_t all_items = (std::size_t{256} << 20U) / sizeof(double) / 3 / items * items;
    std::vector<double> a_ = std::vector<double>(all_items, 0.0);
    std::vector<double> b_ = std::vector<double>(all_items, 1.0);
    std::vector<double> c_ = std::vector<double>(all_items, 2.0);
    std::size_t at_ = 0;
};

}  // namespace

double EmulatedWork::ns_per_piece()
{
    constexpr std::int64_t tried_ns = 100'000'000;
    std::vector<std::int64_t> times;
    const std::int64_t begin = base::now_ns();
    for (std::int64_t last = begin; last - begin < tried_ns;) {
        piece();
        const std::int64_t now = base::now_ns();
        times.push_back(now - last);
        last = now;
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return static_cast<double>(std::max<std::int64_t>(*middle, 1));
}

void MatrixProducts::piece()
{
    for (std::size_t i = 0; i < side; ++i) row();
}

void MatrixProducts::row()
{
    float* const a = &a_[row_ * side];
    float* const c = &c_[row_ * side];
    std::fill_n(c, side, 0.0F);
    for (std::size_t k = 0; k < side; ++k)
        for (std::size_t j = 0; j < side; ++j) c[j] += a[k] * b_[k * side + j];
    a[0] = c[0] / static_cast<float>(side);  // makes the next product depend on this one
    row_ = (row_ + 1) % side;
}

std::unique_ptr<EmulatedWork> memory_streaming()
{
    return std::make_unique<MemoryStreaming>();
}

}  // namespace ddl
