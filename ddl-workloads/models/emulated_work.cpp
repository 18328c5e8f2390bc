#include "ddl-workloads/models/emulated_work.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ddl {

namespace {

class MatrixProducts : public EmulatedWork {
 public:
    void piece() override
    {
        std::fill(c_.begin(), c_.end(), 0.0F);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t k = 0; k < rows; ++k) {
                const float a = a_[i * rows + k];
                for (std::size_t j = 0; j < rows; ++j) c_[i * rows + j] += a * b_[k * rows + j];
            }
        a_[0] = c_[0] / static_cast<float>(rows);  // the next product needs this one
    }

 private:
    static constexpr std::size_t rows = 64;
    std::vector<float> a_ = std::vector<float>(rows * rows, 0.5F);
    std::vector<float> b_ = std::vector<float>(rows * rows, 2.0F);
    std::vector<float> c_ = std::vector<float>(rows * rows);
};

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

std::unique_ptr<EmulatedWork> matrix_products()
{
    return std::make_unique<MatrixProducts>();
}

std::unique_ptr<EmulatedWork> memory_streaming()
{
    return std::make_unique<MemoryStreaming>();
}

}  // namespace ddl
