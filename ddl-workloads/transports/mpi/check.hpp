// SPDX-License-Identifier: Apache-2.0
// Error checks of MPI calls.
#pragma once

#include "base/error.hpp"

#include <mpi.h>

#include <array>

namespace ddl {

// Throws Error if the call failed.
inline void check_mpi(int code, const char* call)
{
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    base::fail(call, ": ", text.data());
}

}  // namespace ddl
