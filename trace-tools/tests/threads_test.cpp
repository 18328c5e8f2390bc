// SPDX-License-Identifier: Apache-2.0
// Output is byte-identical with one thread and with several.
#include "testing/archives/random_archives.hpp"
#include "testing/archives/same_with_threads.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

void check_random(int programs)
{
    const testing::Scratch scratch;
    if (!testing::write_random_archives(scratch / "random", 501, programs)) return;
    for (int seed = 501; seed < 501 + programs; ++seed)
        testing::check_same_with_threads(scratch / "random" / std::to_string(seed) / "traces.otf2");
}

}  // namespace

TEST_CASE("several threads find in random MPI programs what one finds")
{
    check_random(10);
}

TEST_CASE("several threads find in real archives what one finds")
{
    for (const char* name : {"casita-4_mpi_ls_barr", "casita-2_cuda_simple", "pipit-ping-pong-papi"}) {
        const fs::path anchor = fs::path{CROSSTALK_SOURCE} / "../shared/traces" / name / "traces.otf2";
        if (fs::exists(anchor)) testing::check_same_with_threads(anchor);
    }
}
