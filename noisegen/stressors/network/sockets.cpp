// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/network/sockets.hpp"

#include "base/error.hpp"

#include <array>
#include <memory>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace noisegen {

namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses look_up(const std::string& host, const std::string& port)
{
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    if (code != 0) base::fail("cannot find host ", host, ": ", ::gai_strerror(code));
    return {found, &::freeaddrinfo};
}

// Numeric form of an address: "10.0.0.1"; an IPv4 address inside IPv6 (::ffff:10.0.0.1) is shown as IPv4.
std::string numeric(const sockaddr* address, socklen_t size)
{
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) return {};
    const std::string whole = text.data();
    return whole.starts_with("::ffff:") ? whole.substr(7) : whole;
}

bool again()
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

std::optional<std::size_t> Socket::send(const char* data, std::size_t size)
{
    const ssize_t sent = ::send(descriptor_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (again()) return 0;
    return {};
}

std::optional<std::size_t> Socket::receive(char* data, std::size_t size)
{
    const ssize_t received = ::recv(descriptor_, data, size, MSG_DONTWAIT);
    if (received > 0) return static_cast<std::size_t>(received);
    if (received < 0 && again()) return 0;
    return {};
}

std::size_t Socket::unsent() const
{
    pollfd state{descriptor_, 0, 0};
    if (::poll(&state, 1, 0) != 0) return 0;  // an error, or the peer is gone
    int bytes = 0;
    if (::ioctl(descriptor_, SIOCOUTQNSD, &bytes) != 0 || bytes < 0) return 0;
    return static_cast<std::size_t>(bytes);
}

void Socket::drop_on_close()
{
    const linger none{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

std::vector<std::string> addresses_of(const std::string& host)
{
    const Addresses found = look_up(host, "0");
    std::vector<std::string> addresses;
    for (const addrinfo* info = found.get(); info != nullptr; info = info->ai_next)
        addresses.push_back(numeric(info->ai_addr, info->ai_addrlen));
    return addresses;
}

std::vector<std::string> own_addresses()
{
    ifaddrs* list = nullptr;
    base::check_errno(::getifaddrs(&list), "list network interfaces");
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> found{list, &::freeifaddrs};
    std::vector<std::string> addresses;
    for (const ifaddrs* info = found.get(); info != nullptr; info = info->ifa_next) {
        if (info->ifa_addr == nullptr) continue;
        const bool ip4 = info->ifa_addr->sa_family == AF_INET;
        if (!ip4 && info->ifa_addr->sa_family != AF_INET6) continue;
        const auto size = static_cast<socklen_t>(ip4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
        addresses.push_back(numeric(info->ifa_addr, size));
    }
    return addresses;
}

Socket listen_on(std::uint16_t port, const std::string& where)
{
    Socket socket{base::check_errno(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "make a socket")};
    const int yes = 1;
    ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    if (::inet_pton(AF_INET, where.c_str(), &address.sin_addr) != 1) base::fail(where, " is not an IPv4 address");
    if (::bind(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        if (errno == EADDRINUSE) return {};
        throw std::system_error{errno, std::generic_category(), base::join("cannot listen on port ", port)};
    }
    base::check_errno(::listen(socket.descriptor(), SOMAXCONN), "listen on port ", port);
    return socket;
}

std::uint16_t port_of(const Socket& socket)
{
    sockaddr_in address{};
    socklen_t size = sizeof address;
    base::check_errno(::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &size), "read a port");
    return ntohs(address.sin_port);
}

std::optional<Accepted> accept_from(const Socket& listener)
{
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    const int descriptor =
        ::accept4(listener.descriptor(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) return {};
    return Accepted{Socket{descriptor}, numeric(reinterpret_cast<const sockaddr*>(&from), size),
                    ntohs(reinterpret_cast<const sockaddr_in&>(from).sin_port)};
}

Socket connect_to(const std::string& host, std::uint16_t port)
{
    const Addresses found = look_up(host, std::to_string(port));
    for (const addrinfo* info = found.get(); info != nullptr; info = info->ai_next) {
        Socket socket{::socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
        if (!socket.open()) continue;
        if (::connect(socket.descriptor(), info->ai_addr, info->ai_addrlen) == 0) return socket;
        if (errno != EINPROGRESS) continue;
        pollfd waiting{socket.descriptor(), POLLOUT, 0};
        if (::poll(&waiting, 1, 1000) != 1) continue;
        int code = 0;
        socklen_t size = sizeof code;
        ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &code, &size);
        if (code == 0) return socket;
    }
    return {};
}

}  // namespace noisegen
