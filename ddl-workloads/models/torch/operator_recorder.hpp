// SPDX-License-Identifier: Apache-2.0
// Reports LibTorch's operators and the modules of our models to Details, through LibTorch's own observers.
#pragma once

#include "ddl-workloads/instruments/details.hpp"

#include <cstdint>

namespace ddl {

// Only one may exist in a process. It costs nothing while no details are recorded.
class OperatorRecorder {
 public:
    explicit OperatorRecorder(Details& details);
    ~OperatorRecorder();
    OperatorRecorder(const OperatorRecorder&) = delete;
    OperatorRecorder& operator=(const OperatorRecorder&) = delete;

 private:
    Details& details_;
    std::uint64_t observer_;  // LibTorch's handle of the observer
};

}  // namespace ddl
