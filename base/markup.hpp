// SPDX-License-Identifier: Apache-2.0
// Text in HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace base {

// & < > " ' as entities, control characters (which are in no XML) as spaces.
std::string escape_markup(std::string_view text);

}  // namespace base
