// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ddl {

// Called when a checkpoint is written in the background, on the thread that writes it.
class WriteObserver {
 public:
    virtual ~WriteObserver() = default;
    virtual void write_begins(std::int64_t /*steps_done*/, std::int64_t /*bytes*/) {}
    virtual void write_ends() {}
};

}  // namespace ddl
