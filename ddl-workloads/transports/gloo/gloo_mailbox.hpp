// SPDX-License-Identifier: Apache-2.0
// Messages over Gloo's connections between ranks.
#pragma once

#include "ddl-workloads/transports/inbox_mailbox.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>

namespace ddl {

// Gloo can only wait for one transfer at a time, so threads do the waiting: one for each sending rank, and one for all
// sends.
class GlooMailbox : public InboxMailbox {
 public:
    // `context` is null if there is only one rank.
    GlooMailbox(std::shared_ptr<gloo::Context> context, std::vector<int> members, int job_size);
    // Messages not received by then are lost.
    ~GlooMailbox() override;

 private:
    using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;
    struct Parcel {
        std::vector<std::byte> bytes;
        Buffer buffer;
        int to = 0;
    };
    class Listener;

    void transmit(int to, int tag, std::span<const std::byte> message) override;
    void expect(int from) override;
    void start(int to, std::uint64_t slot, std::vector<std::byte> bytes);
    void finish_parcels();

    std::shared_ptr<gloo::Context> context_;
    std::map<int, std::unique_ptr<Listener>> listeners_;  // by sending rank

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Parcel> parcels_;  // messages being sent
    bool closing_ = false;
    std::thread sender_;  // started by the first message
};

}  // namespace ddl
