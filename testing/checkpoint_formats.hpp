// SPDX-License-Identifier: Apache-2.0
// Formats of checkpoints for tests of files, which do not load LibTorch.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"

#include <vector>

namespace testing {

inline std::vector<const ddl::CheckpointFormat*> own_formats()
{
    return {&ddl::checkpoint_formats().find("hdf5"), &ddl::checkpoint_formats().find("raw")};
}

}  // namespace testing
