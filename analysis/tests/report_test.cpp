// Writers: HTML is escaped, numbers read well.
#include "analysis/report/html_text.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/plots.hpp"
#include "analysis/verdict.hpp"

#include <doctest/doctest.h>

TEST_CASE("HTML from outside is escaped")
{
    CHECK(analysis::escape("<script>alert(\"1\" & '2')</script>\n") ==
          "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt; ");
    const std::string table = analysis::table({"<a>"}, {{analysis::words("<b>")}});
    CHECK(table.find("<a>") == std::string::npos);
    CHECK(table.find("<b>") == std::string::npos);
    CHECK(table.find("&lt;b&gt;") != std::string::npos);
}

TEST_CASE("percentages read well")
{
    CHECK(analysis::percent(3.14159) == "3.14 %");
    CHECK(analysis::percent(31.4159) == "31.4 %");
    CHECK(analysis::signed_percent(0.5) == "+0.50 %");
    CHECK(analysis::signed_percent(-0.5) == "-0.50 %");
    CHECK(analysis::signed_percent(-0.001) == "0.00 %");
    CHECK(analysis::range({-0.2, 12.0}) == "-0.2 to 12.0 %");
    CHECK(analysis::p_value(0.00001) == "< 0.001");
}

TEST_CASE("missing minutes read well")
{
    CHECK(analysis::minutes(0.2) == "1 more minute");
    CHECK(analysis::minutes(3.4) == "4 more minutes");
    CHECK(analysis::minutes(150.0) == "3 more hours");
    CHECK(analysis::minutes(analysis::minutes_missing_limit) == "more than a day");
}
