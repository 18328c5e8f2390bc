// SPDX-License-Identifier: Apache-2.0
// GB/s of the network stressors, compared with bare loops of the same placement and with iperf3, in interleaved pairs.
//
//   network-bench                 TCP over loopback on one CPU
//   mpirun -n 2 network-bench     MPI: network.exchange and a windowed Isend/Irecv loop, on the same transport
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/system/launcher.hpp"
#include "base/system/local_rank.hpp"
#include "noisegen/stressors/network/sockets.hpp"
#include "testing/child.hpp"
#include "testing/made_stressor.hpp"
#include "testing/paired.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <optional>

#if CROSSTALK_HAS_MPI
#define OMPI_SKIP_MPICXX
#include <mpi.h>
#endif

namespace {

constexpr std::size_t pairs = 15;
constexpr std::size_t loopback_pairs = 101;
constexpr std::int64_t measured_ns = 100'000'000;

// GB/s of work() when repeated during the measurement.
template <class Work>
double speed(Work&& work)
{
    std::size_t bytes = 0;
    const std::int64_t begin = base::now_ns();
    std::int64_t now = begin;
    for (; now - begin < measured_ns; now = base::now_ns()) bytes += work();
    return static_cast<double>(bytes) / static_cast<double>(now - begin);
}

void tell(const std::string& what, const std::string& other, const testing::Paired& paired, const std::string& goal)
{
    std::cout << what << ": " << paired.first.text() << " GB/s; " << other << ": " << paired.second.text()
              << " GB/s; ratio " << paired.ratio.text() << " (goal " << goal << ")\n";
}

// A plain hand-written exchange: sends what fits of a block, then reads it.
class BareTcp {
 public:
    explicit BareTcp(std::size_t block) : out_(block, 1), in_(block)
    {
        const noisegen::Socket listener = noisegen::listen_on(0, noisegen::loopback_address);
        here_ = noisegen::connect_to("127.0.0.1", noisegen::port_of(listener));
        auto there = noisegen::accept_from(listener);
        if (!here_.open() || !there) base::fail("cannot connect over loopback");
        there_ = std::move(there->socket);
    }

    std::size_t round()
    {
        const std::size_t sent = here_.send(out_.data(), out_.size()).value_or(0);
        std::size_t read = 0;
        while (read < sent) {
            const std::size_t came = there_.receive(in_.data(), in_.size()).value_or(0);
            if (came == 0) break;
            read += came;
        }
        return read;
    }

 private:
    std::vector<char> out_;
    std::vector<char> in_;
    noisegen::Socket here_;
    noisegen::Socket there_;
};

// The block size with which the bare loop is fastest here.
std::size_t best_block()
{
    std::size_t best = 0;
    double most = 0.0;
    for (std::size_t block = std::size_t{16} << 10U; block <= std::size_t{4} << 20U; block *= 2) {
        std::vector<double> speeds;
        for (int i = 0; i < 3; ++i) {
            BareTcp bare{block};
            speeds.push_back(speed([&] { return bare.round(); }));
        }
        std::sort(speeds.begin(), speeds.end());
        std::cout << "bare TCP loop, blocks of " << (block >> 10U) << " KiB: " << speeds[1] << " GB/s\n";
        if (speeds[1] > most) best = block;
        most = std::max(most, speeds[1]);
    }
    return best;
}

// Runs iperf3 with default options, server and client on the given CPU, for a second; none if it cannot run.
std::optional<double> iperf3(const std::string& cpu)
{
    std::string port;
    {
        const noisegen::Socket free = noisegen::listen_on(0, noisegen::loopback_address);
        port = std::to_string(noisegen::port_of(free));
    }
    const testing::Child server{{"taskset", "-c", cpu, "iperf3", "-s", "-1", "-p", port}};
    for (int tries = 0; tries < 20; ++tries) {
        const testing::Outcome client = testing::run(
            {"timeout", "10", "taskset", "-c", cpu, "iperf3", "-c", "127.0.0.1", "-p", port, "-t", "1", "--json"});
        // With --json iperf3 also returns 0 if the server does not listen yet.
        const auto report = nlohmann::json::parse(client.out, nullptr, false);
        const nlohmann::json::json_pointer speed{"/end/sum_received/bits_per_second"};
        if (client.status == 0 && report.contains(speed)) return report.at(speed).get<double>() / 8e9;
        base::sleep_until_ns(base::now_ns() + 50'000'000);
    }
    return {};
}

void compare_tcp()
{
    const int cpu = *base::allowed_cpus().rbegin();
    base::bind_this_thread({cpu});
    // The speed of a connection depends on the location of its memory, so each measurement has a connection of its own.
    const auto stream_speed = [] {
        const testing::Made stream{"network.stream", {}};
        stream.stressor->begin({});
        return speed([&] { return stream.stressor->step().bytes; });
    };
    const auto bare_speed = [block = best_block()] {
        BareTcp bare{block};
        return speed([&] { return bare.round(); });
    };
    tell("network.stream", "best bare TCP loop", testing::measure_in_pairs(loopback_pairs, stream_speed, bare_speed),
         ">= 0.95");
    tell("that loop", "the same loop, to show the resolution of this machine",
         testing::measure_in_pairs(loopback_pairs, bare_speed, bare_speed), "1");
    if (testing::run({"sh", "-c", "command -v iperf3 taskset timeout"}).status != 0 || !iperf3(std::to_string(cpu))) {
        std::cout << "network.stream against iperf3: not shown, iperf3 or taskset is not installed or does not run\n";
        return;
    }
    const auto peer = [&] {
        const auto found = iperf3(std::to_string(cpu));
        if (!found) base::fail("iperf3 does not run any more");
        return *found;
    };
    tell("network.stream", "iperf3 on the same CPU", testing::measure_in_pairs(pairs, stream_speed, peer), ">= 1.4");
}

#if CROSSTALK_HAS_MPI

// Both ranks must run the same number of rounds; rank 0 measures the time.
template <class Round>
double rounds_speed(int rounds, std::size_t bytes, Round&& round)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const std::int64_t begin = base::now_ns();
    for (int i = 0; i < rounds; ++i) round();
    const std::int64_t end = base::now_ns();
    return static_cast<double>(bytes) * rounds / static_cast<double>(end - begin);
}

void compare_mpi()
{
    constexpr int window = 4;
    constexpr int rounds = 100;
    const auto cores = base::physical_cores(base::allowed_cpus());
    const base::LocalRank local = base::local_rank();
    base::bind_this_thread(base::share_of(cores, local));
    const testing::Made exchange{"network.exchange", {}};
    const std::size_t bytes = std::size_t{1} << 20U;
    const int rank = base::job_rank().rank;
    std::vector<char> out(bytes, 1);
    std::vector<std::vector<char>> in(window, out);
    const auto bare_round = [&] {
        std::vector<MPI_Request> requests;
        for (auto& buffer : in) {
            MPI_Irecv(buffer.data(), static_cast<int>(bytes), MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                      &requests.emplace_back());
            MPI_Isend(out.data(), static_cast<int>(bytes), MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                      &requests.emplace_back());
        }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    };
    // Sets a rate so low that a step is one round.
    exchange.stressor->begin({.deadline_ns = 0, .bytes_per_s = 1.0, .operations_per_s = 0.0});
    const auto noise_round = [&] {
        while (exchange.stressor->step().bytes == 0) {
        }
    };
    const testing::Paired paired = testing::measure_in_pairs(
        pairs, [&] { return rounds_speed(rounds, window * bytes, noise_round); },
        [&] { return rounds_speed(rounds, window * bytes, bare_round); });
    exchange.stressor->end();
    if (rank != 0) return;
    std::cout << exchange.stressor->note() << "\n";
    tell("network.exchange", "bare Isend/Irecv loop", paired, ">= 0.95");
}

#endif

}  // namespace

int main(int argc, char** argv)
try {
    base::Options options{"network-bench",
                          "network.exchange against a bare loop; over TCP, or under mpirun -n 2 over MPI"};
    if (!options.parse(argc, argv)) return base::exit_fine;
    const base::JobRank job = base::job_rank();
    if (!job.under_mpi) {
        compare_tcp();
        return base::exit_fine;
    }
#if CROSSTALK_HAS_MPI
    if (job.size != 2) base::fail_usage("runs on two MPI ranks: mpirun -n 2 network-bench");
    compare_mpi();
    return base::exit_fine;
#else
    base::unavailable("network-bench was built without MPI");
#endif
} catch (...) {
    return base::report_failure("network-bench");
}
