// SPDX-License-Identifier: Apache-2.0
// Messages over TCP: to this host itself over loopback, or to noisegens of the same run on other hosts.
#pragma once

#include "noisegen/stressors/stressor.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace noisegen {

struct TcpOptions {
    std::string stressor;            // for messages
    std::size_t bytes = 0;           // per message; an operation is one
    int connections = 1;             // per CPU
    std::vector<std::string> hosts;  // empty: loopback
    std::uint16_t port = 0;          // where their noisegens listen, and this one
};

// Reads bytes, hosts and port, and connections where the stressor has it. Throws UsageError.
TcpOptions tcp_options(const std::string& stressor, const base::Settings& settings);

Needs tcp_needs(const TcpOptions& options);

// With hosts: listens, so that the others can connect. Takes connections from the given hosts only, and of those only
// from who knows the job's token. Throws UsageError if another stressor of this process listens on the port.
std::unique_ptr<Shared> share_tcp(const TcpOptions& options, const Place& place);

// Loopback: both ends of each connection are in this thread, so that all of its work is done on this CPU. With hosts:
// connects to those after this one in the list, waiting up to ten seconds for each to listen, and sends once they have
// answered with the job's token; throws Error if they don't. Counts what this side sends.
std::unique_ptr<Stressor> make_tcp_exchange(const Place& place, const TcpOptions& options);

}  // namespace noisegen
