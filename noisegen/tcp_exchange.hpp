// Messages over TCP: to this host itself over loopback, or to noisegens on other hosts (or anything that reads).
#pragma once

#include "noisegen/stressor.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace noisegen {

struct TcpOptions {
    std::size_t bytes = 0;           // per message
    std::vector<std::string> hosts;  // empty: loopback
    std::uint16_t port = 0;          // where their noisegens listen, and this one
};

// With hosts: listens, so that the others can connect. Takes connections from the given hosts only.
std::unique_ptr<Shared> share_tcp(const TcpOptions& options);

// With hosts: connects to one of them that is not this host, waiting up to ten seconds for it to listen; throws Error
// then.
std::unique_ptr<Stressor> make_tcp_exchange(const Place& place, const TcpOptions& options);

}  // namespace noisegen
