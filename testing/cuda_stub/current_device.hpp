// SPDX-License-Identifier: Apache-2.0
// Device of the context that a thread of the program uses.
#pragma once

namespace cuda_stub {

int current_device();  // -1: none

}  // namespace cuda_stub
