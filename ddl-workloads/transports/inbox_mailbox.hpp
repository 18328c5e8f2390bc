// SPDX-License-Identifier: Apache-2.0
// A mailbox that receives from its own inbox, into which the mailboxes of other ranks deliver.
#pragma once

#include "ddl-workloads/transports/inbox.hpp"

#include <map>
#include <memory>
#include <vector>

namespace ddl {

class InboxMailbox : public Mailbox {
 public:
    // `members` are the ranks of the transport, numbered as in the job, which has `job_size` ranks.
    InboxMailbox(std::vector<int> members, int job_size);
    ~InboxMailbox() override;

    void send(int to, int tag, std::span<const std::byte> message) final;
    void post_receive(Ticket ticket, int from, int tag, std::span<std::byte> into) final;
    std::optional<Ticket> wait_any(std::span<const Ticket> tickets,
                                   std::optional<std::chrono::nanoseconds> at_most) final;
    bool cancel(Ticket ticket) final;
    void record(otf2::LocationRecorder* location) final;

 protected:
    Inbox& inbox() { return inbox_; }

    // Delivers the message to the inbox of rank `to`.
    virtual void transmit(int to, int tag, std::span<const std::byte> message) = 0;
    // Called when a receive from that rank is posted.
    virtual void expect(int /*from*/) {}

 private:
    class Record;

    std::vector<int> members_;
    int job_size_;
    Inbox inbox_;
    std::unique_ptr<Record> record_;  // null: messages are not recorded
};

}  // namespace ddl
