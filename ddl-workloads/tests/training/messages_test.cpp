// SPDX-License-Identifier: Apache-2.0
// Messages between ranks and within groups of ranks, sent by the program message-traffic.
#include "base/files.hpp"
#include "ddl-workloads/transports/transport.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/profile/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

bool has(const std::string& transport)
{
    const std::vector<std::string> names = ddl::transports().names();
    return std::find(names.begin(), names.end(), transport) != names.end();
}

testing::Words traffic(const std::string& transport, const fs::path& directory, int seed)
{
    return {CROSSTALK_BIN "/../tests/message-traffic", transport, directory.string(), std::to_string(seed)};
}

struct Said {
    int status = 0;
    std::string text;
};

Said said(int ranks, const testing::Words& words, const fs::path& log)
{
    testing::RunningJob job{ranks, words, log};
    Said result;
    result.status = job.wait();
    result.text = base::read_whole(log);
    return result;
}

}  // namespace

TEST_CASE("messages between up to six ranks arrive as they were drawn, over every transport")
{
    for (const std::string transport : {"mpi", "gloo"}) {
        if (!has(transport)) continue;
        for (const int ranks : testing::at_night() ? std::vector{1, 3, 6} : std::vector{6}) {
            CAPTURE(transport);
            CAPTURE(ranks);
            const testing::Scratch scratch;
            const Said all = said(ranks, traffic(transport, scratch / "run", ranks), scratch / "log");
            INFO(all.text);
            CHECK(all.status == 0);
            CHECK(all.text.find("as drawn") != std::string::npos);
        }
    }
    const testing::Scratch scratch;
    const testing::Outcome alone = testing::run(traffic("self", scratch / "run", 1));
    CHECK(alone.out == "as drawn\n");
}

TEST_CASE("news that wait for nobody reach every rank in order, also beside other messages")
{
    for (const std::string transport : {"mpi", "gloo"}) {
        if (!has(transport)) continue;
        CAPTURE(transport);
        const testing::Scratch scratch;
        testing::Words words = traffic(transport, scratch / "run", 5);
        words.emplace_back("news");
        const Said all = said(4, words, scratch / "log");
        INFO(all.text);
        CHECK(all.status == 0);
        CHECK(all.text.find("as drawn") != std::string::npos);
    }
}

TEST_CASE("messages are in the trace, whatever carried them")
{
    for (const std::string transport : {"mpi", "gloo"}) {
        if (!has(transport)) continue;
        CAPTURE(transport);
        const testing::Scratch scratch;
        const Said all = said(2, traffic(transport, scratch / "run", 1), scratch / "log");
        INFO(all.text);
        REQUIRE(all.status == 0);
        otf2::Reader reader{scratch / "run/trace/traces.otf2"};
        otf2::Profile profile{reader.archive()};
        reader.read_by_location(profile);
        profile.finish();
        CHECK(reader.problems().empty());
        CHECK(profile.problems().empty());
        std::uint64_t messages = 0;
        for (const otf2::CommunicatorProfile& one : profile.communicators()) messages += one.messages;
        // 200 random messages, one from each rank in the ring, two from each rank in groups.
        CHECK(messages == 200 + 2 + 4);
    }
}

TEST_CASE("a rank that dies ends those that wait for its message")
{
    for (const std::string transport : {"mpi", "gloo"}) {
        if (!has(transport)) continue;
        CAPTURE(transport);
        const testing::Scratch scratch;
        testing::Words words = traffic(transport, scratch / "run", 1);
        words.push_back("dies");
        CHECK(said(3, words, scratch / "log").status != 0);
    }
}
