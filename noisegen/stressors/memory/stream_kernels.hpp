// SPDX-License-Identifier: Apache-2.0
// The loops of memory.stream, with the widest vectors that the machine supports.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace noisegen {

// Arrays of the loops: up to three of `items` doubles each, aligned to pages of 4 KiB and a whole number of pages long.
struct StreamArrays {
    double* a = nullptr;
    double* b = nullptr;
    double* c = nullptr;
    std::size_t items = 0;
};
constexpr std::size_t page_items = 4096 / sizeof(double);

// Processes `count` items from item `at` on; both are multiples of page_items. Returns the sum if the loop only reads,
// else 0.
using StreamLoop = double (*)(StreamArrays, std::size_t at, std::size_t count);

// All loops with the vectors of one instruction set.
struct StreamLoops {
    const char* unit = nullptr;  // "avx512"
    StreamLoop read = nullptr;
    StreamLoop write = nullptr;
    StreamLoop ntwrite = nullptr;
    StreamLoop copy = nullptr;
    StreamLoop scale = nullptr;
    StreamLoop add = nullptr;
    StreamLoop triad = nullptr;
    StreamLoop update = nullptr;
    StreamLoop partial = nullptr;
    StreamLoop pagewrite = nullptr;
    StreamLoop pageupdate = nullptr;
};

// The loops that this machine can run, the best first. The last entry is portable: vectors of 16 bytes, ordinary
// stores.
const std::vector<StreamLoops>& stream_loops();

// One of STREAM's loops (McCalpin 1995) or a variant. `ntwrite`, `copy`, `scale`, `add` and `triad` use stores that
// bypass the caches, so that no line is read only to be overwritten. On processors other than x86-64 these are ordinary
// stores, and the traffic is up to 8 bytes an item higher than counted.
struct StreamShape {
    std::string name;
    std::string formula;
    std::size_t arrays = 0;          // number of the arrays a, b, c that it touches
    std::size_t bytes_per_item = 0;  // traffic per index: loads, stores, and lines read for a store
    StreamLoop StreamLoops::*loop = nullptr;
    std::size_t weight = 1;  // maximum time per item relative to the fastest shape
};

// Placeholder for the shape in the node's limits file.
inline constexpr const char* worst_shape = "worst";

// Throws UsageError that lists the valid names.
const StreamShape& stream_shape(const std::string& name);

std::vector<std::string> stream_shapes();

}  // namespace noisegen
