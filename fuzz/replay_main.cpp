// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on mutations of a folder's files, the same ones each time; a sanitizer's report or a crash ends
// it.
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"

#include <algorithm>
#include <cstdint>
#include <iostream>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv)
try {
    constexpr std::size_t mutations = 20'000;
    if (argc != 2) base::fail_usage("a folder of files is wanted");
    std::vector<std::filesystem::path> seeds;
    for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator{argv[1]})
        seeds.push_back(entry.path());
    if (seeds.empty()) base::fail(argv[1], " is empty");
    std::sort(seeds.begin(), seeds.end());
    for (std::size_t i = 0; i < mutations; ++i) {
        base::Random random = base::random_stream(1, i);
        std::string bytes = base::read_whole(seeds[i % seeds.size()]);
        for (std::uint64_t left = base::draw_below(random, 5); left > 0; --left) testing::mutate(bytes, random);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
    std::cout << mutations << " mutations of " << seeds.size() << " files\n";
    return base::exit_fine;
} catch (...) {
    return base::report_failure("replay");
}
