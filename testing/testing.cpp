// SPDX-License-Identifier: Apache-2.0
#include "testing/testing.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/programs/child.hpp"

#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace testing {

namespace {
bool any_skipped = false;
}

void skip(const std::string& why)
{
    any_skipped = true;
    std::printf("SKIPPED: %s\n", why.c_str());
}

bool skipped()
{
    return any_skipped;
}

bool at_night()
{
    return std::getenv("CROSSTALK_NIGHTLY") != nullptr;
}

Scratch::Scratch()
{
    std::string name = (std::filesystem::temp_directory_path() / "crosstalk-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) base::fail("cannot create ", name);
    path_ = name;
}

Scratch::~Scratch()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

Outcome run(const std::vector<std::string>& words)
{
    const Scratch scratch;
    const std::string out = scratch / "out";
    const std::string err = scratch / "err";
    Outcome outcome;
    outcome.status = base::Child{{.words = words, .output = out, .errors = err}}.wait();
    outcome.out = base::read_whole(out);
    outcome.err = base::read_whole(err);
    return outcome;
}

void mutate(std::string& bytes, base::Random& random)
{
    if (bytes.empty()) return;
    const auto position = [&] { return static_cast<std::size_t>(base::draw_below(random, bytes.size())); };
    const std::size_t at = position();
    const std::size_t count = 1 + static_cast<std::size_t>(base::draw_below(random, 16));
    constexpr unsigned char telling[] = {0, 1, 2, 3, 4, 5, 6, 8, 0x23, 0x42, 0x7f, 0x80, 0xfe, 0xff};
    switch (base::draw_below(random, 8)) {
        case 0:
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << base::draw_below(random, 8)));
            break;
        case 1:
            bytes[at] = static_cast<char>(base::draw_below(random, 256));
            break;
        case 2:
        case 3:
            bytes[at] = static_cast<char>(telling[base::draw_below(random, std::size(telling))]);
            break;
        case 4:
            bytes.erase(at, count);
            break;
        case 5:
            bytes.insert(at, bytes.substr(position(), count));
            break;
        case 6:
            bytes.replace(at, count, std::string(count, base::draw_below(random, 2) == 0 ? '\0' : '\xff'));
            break;
        default:
            bytes.resize(at);
    }
}

}  // namespace testing
