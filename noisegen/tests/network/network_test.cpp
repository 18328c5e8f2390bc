// SPDX-License-Identifier: Apache-2.0
// Network noise over sockets.
#include "base/csv.hpp"
#include "base/error.hpp"
#include "noisegen/stressors/network/sockets.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/child.hpp"
#include "testing/made_stressor.hpp"
#include "testing/network_runs.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace fs = std::filesystem;
using testing::Child;
using testing::how;
using testing::Made;
using testing::noisegen_words;
using testing::Outcome;
using testing::Scratch;
using testing::sum;

namespace {

int free_port()
{
    const noisegen::Socket free = noisegen::listen_on(0, noisegen::loopback_address);
    return noisegen::port_of(free);
}

// A row of /proc/net/tcp.
struct TcpRow {
    int local_port = 0;
    int remote_port = 0;
    unsigned long unread = 0;  // in bytes
    std::string inode;
};

std::vector<TcpRow> tcp_rows()
{
    std::vector<TcpRow> rows;
    std::ifstream file{"/proc/net/tcp"};
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream words{line};
        std::vector<std::string> word(10);
        for (std::string& one : word) words >> one;  // fields: slot, local, remote, state, queues, ..., inode
        const auto port = [](const std::string& address) { return std::stoi(address.substr(9), nullptr, 16); };
        rows.push_back({port(word[1]), port(word[2]), std::stoul(word[4].substr(9), nullptr, 16), word[9]});
    }
    return rows;
}

std::set<std::string> own_socket_inodes()
{
    std::set<std::string> inodes;
    for (const auto& entry : fs::directory_iterator{"/proc/self/fd"}) {
        std::error_code gone;
        const std::string target = fs::read_symlink(entry.path(), gone);
        if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
    }
    return inodes;
}

}  // namespace

TEST_CASE("each wrong value of a network stressor is refused by name")
{
    const std::vector<std::vector<std::string>> wrong{{"network.exchange", "bytes", "0B"},
                                                      {"network.exchange", "bytes", "2GiB"},
                                                      {"network.exchange", "window", "0"},
                                                      {"network.exchange", "window", "1025"},
                                                      {"network.exchange", "port", "0"},
                                                      {"network.exchange", "port", "65536"},
                                                      {"network.stream", "bytes", "0B"},
                                                      {"network.stream", "bytes", "many"},
                                                      {"network.stream", "connections", "0"},
                                                      {"network.stream", "connections", "1025"},
                                                      {"network.stream", "port", "-1"},
                                                      {"network.alltoall", "bytes", "0B"},
                                                      {"network.alltoall", "bytes", "2GiB"},
                                                      {"network.allreduce", "bytes", "6B"},
                                                      {"network.allreduce", "bytes", "0B"},
                                                      {"network.allreduce", "bucket", "1B"},
                                                      {"network.allreduce", "bucket", "1000001B"},
                                                      {"network.incast", "bytes", "0B"},
                                                      {"network.incast", "window", "0"},
                                                      {"network.incast", "root", "-1"},
                                                      {"network.incast", "root", "first"}};
    for (const auto& value : wrong) {
        CAPTURE(value[0] + "[" + value[1] + "=" + value[2] + "]");
        const noisegen::StressorCard& card = noisegen::stressors().find(value[0]);
        const base::Settings settings = noisegen::stressors().settings(card, {{value[1], value[2]}});
        CHECK_THROWS_WITH_AS(card.needs(settings), doctest::Contains((value[0] + "[" + value[1] + "]").c_str()),
                             base::UsageError);
    }
}

TEST_CASE("many connections leave no socket behind")
{
    const std::set<std::string> before = own_socket_inodes();
    std::set<int> ports;
    {
        const Made made{"network.stream", {{"connections", "5"}}};
        made.stressor->begin({});
        noisegen::Work work;
        for (int step = 0; step < 20; ++step) work.bytes += made.stressor->step().bytes;
        CHECK(work.bytes > 0);
        made.stressor->end();
        std::set<std::string> sockets = own_socket_inodes();
        CHECK(sockets.size() == before.size() + 10);
        for (const TcpRow& row : tcp_rows()) {
            if (!sockets.contains(row.inode)) continue;
            ports.insert(row.local_port);
            CHECK(row.unread == 0);
        }
        CHECK(ports.size() == 6);
    }
    CHECK(own_socket_inodes() == before);
    for (const TcpRow& row : tcp_rows()) {
        const bool ours = ports.contains(row.local_port) && ports.contains(row.remote_port);
        CHECK(!ours);
    }
}

TEST_CASE("a slow stream takes small steps and one of messages whole ones")
{
    const Made made{"network.stream", {{"bytes", "100KiB"}}};
    made.stressor->begin({.deadline_ns = 0, .bytes_per_s = 20e6, .operations_per_s = 0.0});
    for (int step = 0; step < 100; ++step) CHECK(made.stressor->step().bytes <= 20'000);
    made.stressor->end();
    made.stressor->begin({.deadline_ns = 0, .bytes_per_s = 0.0, .operations_per_s = 10.0});
    for (int step = 0; step < 100; ++step) CHECK(made.stressor->step().operations <= 2);
    made.stressor->end();
}

TEST_CASE("operations of a stream are its messages")
{
    const Made made{"network.stream", {{"bytes", "1000B"}}};
    made.stressor->begin({});
    noisegen::Work work;
    for (int step = 0; step < 10; ++step) {
        const noisegen::Work one = made.stressor->step();
        work.bytes += one.bytes;
        work.operations += one.operations;
    }
    CHECK(work.operations > 0);
    CHECK(work.operations == work.bytes / 1000);
}

TEST_CASE("two noisegens stream through a named address")
{
    const int port = free_port();
    const std::string schedule =
        "network.stream[hosts=127.0.0.1,connections=3,port=" + std::to_string(port) + "] 100ms; quiet 50ms";
    const Scratch scratch;
    const fs::path run = scratch / "run";
    // The ranks are started without MPI, as by srun --mpi=none.
    const auto as_rank = [&](const std::string& rank) {
        std::vector<std::string> words{"env", "PMI_RANK=" + rank, "PMI_SIZE=2"};
        for (const std::string& word : noisegen_words(schedule, "1500ms", run)) words.push_back(word);
        return words;
    };
    Child one{as_rank("0")};
    Child other{as_rank("1")};
    CHECK(one.wait() == 0);
    CHECK(other.wait() == 0);
    for (const int rank : {0, 1}) {
        CHECK(sum(run, rank, "bytes") > 0);
        CHECK(how(run, rank).starts_with("TCP to 127.0.0.1, 3 connections, messages of 1048576 bytes"));
    }
    for (const TcpRow& row : tcp_rows()) {
        CHECK(row.local_port != port);
        CHECK(row.remote_port != port);
    }
}

TEST_CASE("two stressors of a schedule cannot listen on one port")
{
    const std::string options = "[hosts=localhost,port=" + std::to_string(free_port()) + "] 100ms; ";
    const Scratch scratch;
    const Outcome outcome = testing::run(
        noisegen_words("network.exchange" + options + "network.stream" + options, "200ms", scratch / "run"));
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find("network.stream[port]: another stressor of this schedule listens on") != std::string::npos);
}
