// The loops of memory.stream. Stores that need not read their line first bypass the caches (x86-64), so that the
// traffic is what the formula says; elsewhere they are ordinary stores.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace noisegen {

// One of STREAM's loops (McCalpin 1995), or a relative of them, over `count` doubles of each array. Arrays are aligned
// to 64 bytes; count is a multiple of 8.
struct StreamShape {
    std::string name;
    std::string formula;
    std::size_t arrays = 0;          // how many of a, b, c it touches
    std::size_t bytes_per_item = 0;  // traffic: loads and stores of one index
    void (*run)(double* a, const double* b, const double* c, std::size_t count) = nullptr;
};

// Throws UsageError with the right names.
const StreamShape& stream_shape(const std::string& name);

std::vector<std::string> stream_shapes();

}  // namespace noisegen
