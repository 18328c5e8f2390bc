// SPDX-License-Identifier: Apache-2.0
// Shows LibTorch's operators and the modules of our models to Details, by LibTorch's own observers.
#pragma once

#include "ddl-workloads/instruments/details.hpp"

#include <cstdint>

namespace ddl {

// One at a time in a process. While no details are recorded it costs nothing.
class OperatorRecorder {
 public:
    explicit OperatorRecorder(Details& details);
    ~OperatorRecorder();
    OperatorRecorder(const OperatorRecorder&) = delete;
    OperatorRecorder& operator=(const OperatorRecorder&) = delete;

 private:
    Details& details_;
    std::uint64_t observer_;  // LibTorch's handle
};

}  // namespace ddl
