// SPDX-License-Identifier: Apache-2.0
// Messages over TCP: on this host over loopback, or to the noisegens of the same run on other hosts.
#pragma once

#include "noisegen/stressors/stressor.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace noisegen {

struct TcpOptions {
    std::string stressor;            // name of the stressor, for error messages
    std::size_t bytes = 0;           // bytes of a message; an operation is a message
    int connections = 1;             // number per CPU
    std::vector<std::string> hosts;  // empty: loopback
    std::uint16_t port = 0;          // port on which all noisegens listen
};

// Reads bytes, hosts and port, and connections if the stressor has that option. Throws UsageError.
TcpOptions tcp_options(const std::string& stressor, const base::Settings& settings);

Needs tcp_needs(const TcpOptions& options);

// With hosts: listens for connections, and accepts those that come from the given hosts and present the job's token.
// Throws UsageError if another stressor of this process listens on the port.
std::unique_ptr<Shared> share_tcp(const TcpOptions& options, const Place& place);

// Loopback: both ends of each connection are in this thread, so that all work is done on this CPU. With hosts: connects
// to the hosts after this one in the list, waits up to ten seconds for each to listen, and sends once they have
// answered with the job's token; throws Error if they do not. Counts the data that this side sends.
std::unique_ptr<Stressor> make_tcp_exchange(const Place& place, const TcpOptions& options);

}  // namespace noisegen
