// SPDX-License-Identifier: Apache-2.0
// Text for people: wrapped to a width, and made fit for a terminal.
#include "base/words.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>

#include <sstream>

using base::printable;
using base::wrapped;

TEST_CASE("text is wrapped between words and long words stand alone")
{
    CHECK(wrapped("one two three", 2, 9) == "  one two\n  three\n");
    CHECK(wrapped("unbelievably long", 0, 5) == "unbelievably\nlong\n");
    CHECK(wrapped("", 1, 5) == " \n");
}

TEST_CASE("only letters from A to Z become small, in any locale")
{
    CHECK(base::lower_case("GPU 00000000:1A:00.0 [AZ@]") == "gpu 00000000:1a:00.0 [az@]");
    CHECK(base::lower_case("\xc3\x9c\xc9") == "\xc3\x9c\xc9");
    CHECK(base::lower_case("").empty());
}

TEST_CASE("what a terminal would obey is shown escaped")
{
    CHECK(printable("4GiB/s, \xc3\xbc\xe2\x82\xac\xf0\x9f\x99\x82") == "4GiB/s, \xc3\xbc\xe2\x82\xac\xf0\x9f\x99\x82");
    CHECK(printable("a\n\x1b[31m\x7f") == "a\\n\\x1b[31m\\x7f");
    CHECK(printable("\xff\xc3") == "\\xff\\xc3");
    CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");           // the control character CSI
    CHECK(printable("\xe2\x80\xae") == "\\xe2\\x80\\xae");  // changes the direction of the rest of the line
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // half of a surrogate pair
    CHECK(printable("\xc0\xaf\xf5") == "\\xc0\\xaf\\xf5");
    CHECK(printable(printable("\x01")) == "\\x01");
}

TEST_CASE("an error says one line whatever it quotes")
{
    const base::UsageError error{"no stressor 'a\r\nb'"};
    CHECK(std::string{error.what()} == "no stressor 'a\\x0d\\nb'");
}

TEST_CASE("an error that quotes a whole file stays short and keeps its start and its end")
{
    const std::string said = base::Error{"line 7 column a: '" + std::string(10'000'000, 'x') + "' is no number"}.what();
    CHECK(said.size() <= 400);
    CHECK(said.starts_with("line 7 column a: 'xxx"));
    CHECK(said.ends_with("xxx' is no number"));
}

TEST_CASE("the right word is found though two letters are swapped")
{
    const std::vector<std::string> known{"other", "batch", "idle"};
    CHECK(base::nearest("idel", known) == "idle");
    CHECK(base::nearest("ohter", known) == "other");
    CHECK(base::nearest("betch", known) == "batch");
    CHECK(base::nearest("dlie", known).empty());
}

TEST_CASE("a shortened text has no half characters")
{
    CHECK(base::shortened("short", 5) == "short");
    CHECK(base::shortened("0123456789abcdefghij", 15) == "0123456789 ... ");
    std::string euros;
    for (int i = 0; i < 100; ++i) euros += "\xe2\x82\xac";
    for (std::size_t most = 40; most < 60; ++most) {
        const std::string shown = base::shortened(euros, most);
        CHECK(shown.size() <= most);
        CHECK(printable(shown) == shown);
    }
}

TEST_CASE("what a terminal obeys is escaped line by line")
{
    std::ostringstream out;
    base::print_lines(out, [](std::ostream& text) { text << "a\x1b]0;b\x07\nc\xe2\x80\xae\nd"; });
    CHECK(out.str() == "a\\x1b]0;b\\x07\nc\\xe2\\x80\\xae\nd");
}

TEST_CASE("values of options that are named after secrets are hidden, and other words stay")
{
    using Words = std::vector<std::string>;
    CHECK(
        base::without_secrets(Words{"env", "HF_TOKEN=a=b", "./x", "--api-key", "k", "--password=p", "--steps", "9"}) ==
        Words{"env", "HF_TOKEN=***", "./x", "--api-key", "***", "--password=***", "--steps", "9"});
    CHECK(base::without_secrets(Words{"curl", "https://me:pw@host/x", "-H", "Authorization: Bearer t", "Bearer t"}) ==
          Words{"curl", "https://me:***@host/x", "-H", "Authorization:***", "Bearer ***"});
    const Words links{"https://host:80/a@b", "http://me@host", "file:///x:y@z", "a@b:c"};
    CHECK(base::without_secrets(links) == links);
    const Words plain{"--tokenizer", "gpt2", "--key", "1", "--token-file", "-x", "monkey=1"};
    CHECK(base::without_secrets(plain) == Words{"--tokenizer", "gpt2", "--key", "1", "--token-file", "-x", "monkey=1"});
}
