// SPDX-License-Identifier: Apache-2.0
// Version and git revision of this build of Crosstalk.
#pragma once

#include <string>

namespace base {

std::string version();       // "0.1.0"
std::string git_revision();  // git revision of the sources at build time; "unknown" outside a checkout

std::string revision_date();  // date of that revision, "2026-11-30"; empty outside a checkout

}  // namespace base
