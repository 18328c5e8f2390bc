// SPDX-License-Identifier: Apache-2.0
// The emulated model on a GPU.
#include "testing/testing.hpp"

#include <doctest/doctest.h>

TEST_CASE("an emulated step keeps a GPU busy or says that there is none")
{
    const testing::Scratch scratch;
    const testing::Outcome outcome = testing::run(
        {CROSSTALK_BIN "/ddl-train", "--model", "emulated[device=cuda,compute=20ms,gradients=64kB]", "--data",
         "synthetic[samples=100]", "--steps", "10", "--json", "--transport", "self", "--out", scratch / "run"});
    INFO(outcome.err);
    if (outcome.status == 77) {
        CHECK(outcome.err.starts_with("ddl-train: "));
        return testing::skip("no GPU, or a ddl-train without CUDA");
    }
    CHECK(outcome.status == 0);
    CHECK(outcome.out.find("\"steps\":10") != std::string::npos);
}
