// SPDX-License-Identifier: Apache-2.0
// Which Crosstalk this is.
#pragma once

#include <string>

namespace base {

std::string version();       // "0.1.0"
std::string git_revision();  // of the sources when they were built, "unknown" outside a checkout

std::string revision_date();  // of that revision, "2026-11-30"; empty outside a checkout

}  // namespace base
