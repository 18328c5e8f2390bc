// SPDX-License-Identifier: Apache-2.0
// Text in HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace base {

// Writes & < > " ' as entities, and control characters, which XML does not allow, as spaces.
std::string escape_markup(std::string_view text);

}  // namespace base
