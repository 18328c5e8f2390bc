// SPDX-License-Identifier: Apache-2.0
// TCP sockets that never block and close on destruction.
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

    // Bytes sent now, 0 if none could be. None: the other side is gone.
    std::optional<std::size_t> send(const char* data, std::size_t size);
    std::optional<std::size_t> receive(char* data, std::size_t size);

    // Bytes still in the send queue, since the peer has no space for them. 0 if the peer is gone.
    std::size_t unsent() const;

    // Closing will drop what is still under way and leave nothing behind (no TIME_WAIT).
    void drop_on_close();

 private:
    base::Descriptor descriptor_;
};

// Numeric addresses of a host, as the other side of accept() shows them. Throws Error for an unknown host.
std::vector<std::string> addresses_of(const std::string& host);

// Addresses of this host's own interfaces.
std::vector<std::string> own_addresses();

// On all interfaces, or on one address of version 4; port 0 lets the kernel choose. Not open if the port is taken.
inline constexpr const char* any_address = "0.0.0.0";
inline constexpr const char* loopback_address = "127.0.0.1";
Socket listen_on(std::uint16_t port, const std::string& address);
std::uint16_t port_of(const Socket& socket);

// None at the moment, or the connection and who it comes from.
struct Accepted {
    Socket socket;
    std::string address;
    std::uint16_t port = 0;
};
std::optional<Accepted> accept_from(const Socket& listener);

// One attempt; waits up to a second. Not open if nothing listens there.
Socket connect_to(const std::string& host, std::uint16_t port);

}  // namespace noisegen
