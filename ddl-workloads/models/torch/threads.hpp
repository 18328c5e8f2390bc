// SPDX-License-Identifier: Apache-2.0
// Numbers of threads that LibTorch and its linear algebra use.
#pragma once

#include <optional>

namespace ddl {

void limit_threads(int threads);
std::optional<int> openblas_threads();  // none: this LibTorch does not use OpenBLAS

}  // namespace ddl
