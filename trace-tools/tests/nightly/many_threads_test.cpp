// SPDX-License-Identifier: Apache-2.0
// Output is byte-identical with one thread and with several: many programs, many ranks.
#include "testing/archives/random_archives.hpp"
#include "testing/archives/same_with_threads.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

TEST_CASE("several threads find in 200 random MPI programs what one finds")
{
    constexpr int programs = 200;
    const testing::Scratch scratch;
    if (!testing::write_random_archives(scratch / "random", 1001, programs)) return;
    for (int seed = 1001; seed < 1001 + programs; ++seed)
        testing::check_same_with_threads(scratch / "random" / std::to_string(seed) / "traces.otf2");
}

TEST_CASE("several threads find in a program of 1024 ranks what one finds")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "spec"} << R"(ranks 1024
seed 3
repeat 20 step {
  forward 1ms..9ms
  MPI_Bcast 1ms root=3 bytes=70kB
  MPI_Iallreduce 5ms request=one
  backward 2ms..4ms, 9ms on 17
  MPI_Isend 1>0 1ms..7ms request=two
  MPI_Send 0>2 1ms tag=70000
  MPI_Wait one
  MPI_Wait two
  MPI_Allreduce 1ms
}
)";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", scratch / "spec", "-o", scratch / "mpi"}).status == 0);
    testing::check_same_with_threads(scratch / "mpi/traces.otf2");
}
