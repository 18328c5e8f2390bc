// SPDX-License-Identifier: Apache-2.0
// Messages over MPI. Every call, waits included, is made on the transport thread.
#pragma once

#include "ddl-workloads/transports/mailbox.hpp"
#include "ddl-workloads/transports/progress.hpp"

#include <mpi.h>

#include <functional>
#include <list>
#include <map>
#include <vector>

namespace ddl {

class MpiMailbox : public Mailbox {
 public:
    // `poll` is called between the polls of a wait; it may end the process.
    MpiMailbox(MPI_Comm communicator, const Progress& progress, std::function<void()> poll);
    // Cancels pending receives. Messages not received within 10 s are given up.
    ~MpiMailbox() override;
    MpiMailbox(const MpiMailbox&) = delete;
    MpiMailbox& operator=(const MpiMailbox&) = delete;

    void send(int to, int tag, std::span<const std::byte> message) override;
    void post_receive(Ticket ticket, int from, int tag, std::span<std::byte> into) override;
    std::optional<Ticket> wait_any(std::span<const Ticket> tickets,
                                   std::optional<std::chrono::nanoseconds> at_most) override;
    bool cancel(Ticket ticket) override;
    bool advance() override;

 private:
    void end();

    struct Sent {
        std::vector<std::byte> message;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    struct Receive {
        MPI_Request request = MPI_REQUEST_NULL;
        bool done = false;  // the receive had completed when it was to be cancelled
    };

    MPI_Comm communicator_;
    Waiting waiting_;
    std::function<void()> poll_;
    std::list<Sent> sent_;  // messages under way
    std::map<Ticket, Receive> receives_;
};

}  // namespace ddl
