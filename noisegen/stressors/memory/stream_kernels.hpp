// SPDX-License-Identifier: Apache-2.0
// The loops of memory.stream, in the widest vectors that the machine has.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace noisegen {

// Arrays of the loops: up to three of `items` doubles each. Each is aligned to a page of 4 KiB and holds whole pages.
struct StreamArrays {
    double* a = nullptr;
    double* b = nullptr;
    double* c = nullptr;
    std::size_t items = 0;
};
constexpr std::size_t page_items = 4096 / sizeof(double);

// Does `count` items from item `at` on; both are multiples of page_items. Returns the sum if the loop reads only, else
// 0.
using StreamLoop = double (*)(StreamArrays, std::size_t at, std::size_t count);

// All loops in the vectors of one set of instructions.
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

// Those that this machine can run, the best first. The last is the portable one: vectors of 16 bytes, ordinary stores.
const std::vector<StreamLoops>& stream_loops();

// One of STREAM's loops (McCalpin 1995), or a relative of them. `ntwrite`, `copy`, `scale`, `add` and `triad` store
// past the caches, so that no line is read only to be overwritten; on processors other than x86-64 their stores are
// ordinary ones and the traffic is up to 8 bytes an item more than counted.
struct StreamShape {
    std::string name;
    std::string formula;
    std::size_t arrays = 0;          // how many of a, b, c it touches
    std::size_t bytes_per_item = 0;  // traffic: loads and stores of one index, lines read for a store included
    StreamLoop StreamLoops::*loop = nullptr;
    std::size_t weight = 1;  // most time of an item, in items of the fastest shape
};

// Stands for a shape until the node's limits say which one.
inline constexpr const char* worst_shape = "worst";

// Throws UsageError with the right names.
const StreamShape& stream_shape(const std::string& name);

std::vector<std::string> stream_shapes();

}  // namespace noisegen
