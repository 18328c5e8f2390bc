// SPDX-License-Identifier: Apache-2.0
// Work of all CPUs together in each window of a tenth of a second.
#pragma once

#include "noisegen/execution/threads/sample.hpp"

#include <map>
#include <vector>

namespace noisegen {

// Rates per second in windows of a tenth of a second, summed over all CPUs.
struct Windows {
    std::vector<double> bytes;
    std::vector<double> operations;
};

// Sums the windows that the samples of all CPUs cover from border to border.
class WindowSums {
 public:
    explicit WindowSums(std::size_t cpus) : cpus_{cpus} {}

    void add(std::int64_t start_ns, const Sample& sample)
    {
        constexpr std::int64_t window_ns = 100'000'000;
        constexpr std::int64_t shortest_ns = 90'000'000;
        if (sample.end_ns - sample.begin_ns < shortest_ns) return;
        Sum& sum = sums_[(sample.end_ns - start_ns) / window_ns];
        ++sum.cpus;
        sum.bytes += sample.bytes_per_s();
        sum.operations += sample.operations_per_s();
    }

    Windows whole() const
    {
        Windows windows;
        for (const auto& [number, sum] : sums_) {
            if (sum.cpus != cpus_) continue;
            windows.bytes.push_back(sum.bytes);
            windows.operations.push_back(sum.operations);
        }
        return windows;
    }

 private:
    struct Sum {
        std::size_t cpus = 0;
        double bytes = 0.0;
        double operations = 0.0;
    };
    std::size_t cpus_;
    std::map<std::int64_t, Sum> sums_;
};

}  // namespace noisegen
