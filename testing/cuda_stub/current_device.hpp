// SPDX-License-Identifier: Apache-2.0
// The device of the calling thread's current context.
#pragma once

namespace cuda_stub {

int current_device();  // -1: none

}  // namespace cuda_stub
