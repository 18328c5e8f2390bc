// SPDX-License-Identifier: Apache-2.0
#include "base/markup.hpp"

#include <doctest/doctest.h>

TEST_CASE("text in HTML and XML has no letters of markup, and no control characters")
{
    CHECK(base::escape_markup("a < b & c > \"d\" 'e'") == "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;");
    CHECK(base::escape_markup("line\nend\x01") == "line end ");
    CHECK(base::escape_markup("Zürich") == "Zürich");
}
