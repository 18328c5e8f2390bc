// Amounts per second for the eye, not for files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace base {

// "3.21 GB/s", three digits.
std::string speed_text(double bytes_per_s);

// "1.23 M/s", three digits.
std::string operations_text(double operations_per_s);

// Lines of cells, padded so that columns stand under each other; the first `left` columns to the left, others to the
// right. Every line has as many cells as the first.
std::string table_text(const std::vector<std::vector<std::string>>& lines, std::size_t left);

}  // namespace base
