// Real work for the emulated model: what noise beside it can slow down.
#pragma once

#include <memory>

namespace ddl {

class EmulatedWork {
 public:
    virtual ~EmulatedWork() = default;
    // Some ten microseconds.
    virtual void piece() = 0;
    // Tries it for a tenth of a second: the median time of a piece on this machine, as it is now.
    double ns_per_piece();
};

// Products of small matrices that stay in the core's own cache.
std::unique_ptr<EmulatedWork> matrix_products();

// STREAM triad through 256 MiB, more than most last-level caches hold.
std::unique_ptr<EmulatedWork> memory_streaming();

}  // namespace ddl
