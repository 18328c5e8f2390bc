// SPDX-License-Identifier: Apache-2.0
// main() of every test program: doctest's, but a case that called skip() makes the program exit 77.
#define DOCTEST_CONFIG_IMPLEMENT
#include "testing/testing.hpp"

#include <doctest/doctest.h>

int main(int argc, char** argv)
{
    const int result = doctest::Context{argc, argv}.run();
    return result == 0 && testing::skipped() ? 77 : result;
}
