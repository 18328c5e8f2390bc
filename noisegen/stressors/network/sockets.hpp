// SPDX-License-Identifier: Apache-2.0
// Non-blocking TCP sockets that close on destruction.
#pragma once

#include "base/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace noisegen {

class Socket {
 public:
    Socket() = default;
    explicit Socket(int descriptor) : descriptor_{descriptor} {}

    bool open() const { return descriptor_ >= 0; }
    int descriptor() const { return descriptor_; }

    // Number of bytes sent now, 0 if the socket is full. None if the peer is gone.
    std::optional<std::size_t> send(const char* data, std::size_t size);
    std::optional<std::size_t> receive(char* data, std::size_t size);

    // Number of bytes in the send queue that the peer has not accepted. 0 if the peer is gone.
    std::size_t unsent() const;

    // Makes the socket drop unsent data when it closes, without TIME_WAIT.
    void drop_on_close();

 private:
    base::Descriptor descriptor_;
};

// Numeric addresses of a host, in the form that accept() reports. Throws Error for an unknown host.
std::vector<std::string> addresses_of(const std::string& host);

// Addresses of this host's own interfaces.
std::vector<std::string> own_addresses();

// Listens on all interfaces or on one IPv4 address; with port 0 the kernel chooses a port. The socket is not open if
// the port is taken.
inline constexpr const char* any_address = "0.0.0.0";
inline constexpr const char* loopback_address = "127.0.0.1";
Socket listen_on(std::uint16_t port, const std::string& address);
std::uint16_t port_of(const Socket& socket);

// A new connection with the peer's address. accept_from() returns none if no connection is waiting.
struct Accepted {
    Socket socket;
    std::string address;
    std::uint16_t port = 0;
};
std::optional<Accepted> accept_from(const Socket& listener);

// Tries once to connect, for up to a second. The socket is not open if nothing listens there.
Socket connect_to(const std::string& host, std::uint16_t port);

}  // namespace noisegen
