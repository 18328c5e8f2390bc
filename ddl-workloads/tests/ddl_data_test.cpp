// SPDX-License-Identifier: Apache-2.0
// Tests of the program ddl-data.
#include "ddl-workloads/data/conversion.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/hdf5.hpp"
#include "testing/bytes_in_file.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

namespace fs = std::filesystem;
using testing::put;

TEST_CASE("ddl-data that a signal stops leaves nothing half made")
{
    for (const std::string format : {"shards", "mnist", "hdf5"}) {
        const testing::Scratch scratch;
        const testing::Outcome stopped =
            testing::run({"bash", "-c",
                          "cd $0 && { $1 generate synthetic --bytes 4GiB --to $2 --out made & } && until compgen -G "
                          "'made*' > /dev/null; do sleep 0.05; done; kill -TERM $!; wait $!",
                          scratch.path(), CROSSTALK_BIN "/ddl-data", format});
        CHECK(stopped.status == 1);
        CHECK(stopped.err == "ddl-data: stopped by a signal while generating the data set\n");
        for (const auto& entry : fs::recursive_directory_iterator{scratch.path()}) CHECK(entry.is_directory());
    }
}

TEST_CASE("ddl-data makes and converts and looks into data sets")
{
    const testing::Scratch scratch;
    const std::string program = CROSSTALK_BIN "/ddl-data";
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), program);
        return testing::run(words);
    };
    const testing::Outcome made = run({"generate", "synthetic[classes=3,height=4,width=5]", "--bytes", "6100B", "--to",
                                       "shards", "--out", scratch / "a"});
    CHECK(made.err == "");
    CHECK(made.status == 0);
    CHECK(made.out.starts_with("82 samples to train on and 18 held out: --data shards[path="));
    CHECK(run({"convert", "shards[path=" + (scratch / "a").string() + "]", "--to", "hdf5", "--out", scratch / "a.h5"})
              .status == 0);

    const testing::Outcome sound = run({"info", "--check", scratch / "a.h5"});
    CHECK(sound.status == 0);
    CHECK(sound.out.find("images, 3x4x5, 3 classes, 61 bytes each\ntrain      82\nheld out   18\ncorrupt    0") !=
          std::string::npos);
    put(scratch / "a/train-00000.bin", 3, "\xff\x01\xff");
    const testing::Outcome damaged = run({"info", "--check", scratch / "a"});
    CHECK(damaged.status == 1);
    CHECK(damaged.out.find("byte 0: record 0 does not match its checksum\ncorrupt    1\n") != std::string::npos);

    CHECK(run({"info", "digits"}).out ==
          "data set   digits\nsamples    images, 3x32x32, 10 classes, 3073 bytes each\n"
          "in all     1797, generated for each training; a fifth is held out\n");
    CHECK(run({"info", "synthetic[samples=60]"}).out.find("in all     60,") != std::string::npos);
    CHECK(run({"info", "digits", "--check"}).status == 2);
    CHECK(run({"info", "digitz"}).status == 1);

    CHECK(run({"generate", "synthetic", "--samples", "-5", "--out", scratch / "b"}).status == 2);
    CHECK(run({"generate", "synthetic", "--bytes", "1B", "--out", scratch / "b"}).status == 2);
    CHECK(run({"generate", "text[path=a]", "--out", scratch / "b"}).status == 2);
    CHECK(run({"generate", "synthetic"}).status == 2);
    CHECK(run({"convert", "digitz", "--out", scratch / "b"}).status == 2);
    CHECK(run({"inform"}).err ==
          "ddl-data: no command 'inform'; did you mean info? (there are generate, convert, info)\n");
    CHECK(run({}).status == 2);
    CHECK(run({"--list"}).out.find("cifar10") != std::string::npos);
}
