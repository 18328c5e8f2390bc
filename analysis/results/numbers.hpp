// SPDX-License-Identifier: Apache-2.0
// Numbers as text, by the names that all of analysis uses.
#pragma once

#include "base/figures.hpp"

namespace analysis {

using base::counted;
using base::fixed;
using base::length_measured;
using base::length_needed;
using base::p_value;
using base::percent;
using base::range;
using base::signed_percent;

}  // namespace analysis
