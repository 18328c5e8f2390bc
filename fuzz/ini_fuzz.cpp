// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a program's --config file: the result is settings, or a one-line error.
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::InputFile file{data, size};
    std::string schedule;
    int threads = 0;
    double share = 0.0;
    bool quiet = false;
    std::vector<std::string> names;
    base::Options options{"program", "takes settings"};
    options.add("schedule", schedule, "words");
    options.add("threads", threads, "a whole number");
    options.add("share", share, "a number");
    options.add("name", names, "may be given several times");
    options.add_switch("quiet", quiet, "there or not");
    std::string words[] = {"program", "--config", file.path().string()};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    try {
        options.parse(3, arguments);
    } catch (const base::Error&) {
    }
    return 0;
}
