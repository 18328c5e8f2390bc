// SPDX-License-Identifier: Apache-2.0
// As many bytes as TCP carries, in one direction on each connection: contends for the kernel's network stack and, with
// other hosts, for the network and its adapters. Does not need MPI.
#include "noisegen/stressors/network/tcp_exchange.hpp"

namespace noisegen {

extern const StressorCard network_stream{
    .name = "network.stream",
    .summary = "TCP over any number of connections, on loopback or to other hosts; an operation is a message",
    .options = with_intensity(
        "500MiB/s or 1000/s",
        {{"connections", "1", "connections per CPU; each sends in one direction"},
         {"bytes", "1MiB", "bytes per message"},
         {"hosts", "", "hosts of the run's other noisegens, a+b+c; empty: loopback, both ends on the same CPU"},
         {"port", "47112", "TCP port to listen on, with hosts"}}),
    .counts_bytes = true,
    .counts_operations = true,
    .needs = [](const base::Settings& settings) { return tcp_needs(tcp_options("network.stream", settings)); },
    .share = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Shared> {
        return share_tcp(tcp_options("network.stream", settings), place);
    },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return make_tcp_exchange(place, tcp_options("network.stream", settings));
    },
};

}  // namespace noisegen
