// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/inbox_mailbox.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"

#include <numeric>
#include <utility>

namespace ddl {

// Records the same events as for MPI_Isend, MPI_Irecv and MPI_Waitany, in regions with our own names.
class InboxMailbox::Record {
 public:
    Record(otf2::LocationRecorder& location, int job_size) : location_{location}, job_size_{job_size} {}

    void sent(std::int64_t begin_ns, int to, int tag, std::size_t bytes)
    {
        define();
        location_.enter(send_, begin_ns);
        const std::uint64_t request = ++requests_;
        location_.send_request(begin_ns, message(to, tag, bytes), request);
        const std::int64_t end_ns = base::now_ns();
        location_.send_complete(end_ns, request);
        location_.leave(send_, end_ns);
    }

    void posted(Ticket ticket)
    {
        define();
        const std::int64_t now = base::now_ns();
        location_.enter(post_, now);
        location_.receive_request(now, requests_of_[ticket] = ++requests_);
        location_.leave(post_, now);
    }

    // `arrival`: null if no message arrived in time.
    void waited(std::int64_t begin_ns, const Inbox::Arrival* arrival, int from)
    {
        location_.enter(wait_, begin_ns);
        const std::int64_t end_ns = base::now_ns();
        if (arrival != nullptr)
            location_.receive_complete(end_ns, message(from, arrival->tag, arrival->bytes), taken(arrival->ticket));
        location_.leave(wait_, end_ns);
    }

    void cancelled(Ticket ticket) { location_.request_cancelled(base::now_ns(), taken(ticket)); }

 private:
    void define()
    {
        if (is_defined_) return;
        otf2::Recorder& recorder = location_.recorder();
        const auto region = [&](const char* name) { return recorder.region(name, otf2::RegionRole::point_to_point); };
        send_ = region("message_send");
        post_ = region("message_receive");
        wait_ = region("message_wait");
        std::vector<int> everyone(static_cast<std::size_t>(job_size_));
        std::iota(everyone.begin(), everyone.end(), 0);
        world_ = recorder.communicator(otf2::world_communicator, everyone, "world");
        recorder.speaks_mpi(location_);
        is_defined_ = true;
    }

    otf2::Message message(int peer, int tag, std::size_t bytes) const
    {
        return {.peer = static_cast<std::uint32_t>(peer),
                .communicator = world_,
                .tag = static_cast<std::uint32_t>(tag),
                .bytes = bytes};
    }

    std::uint64_t taken(Ticket ticket) { return requests_of_.extract(ticket).mapped(); }

    otf2::LocationRecorder& location_;
    int job_size_;
    bool is_defined_ = false;
    otf2::RegionRef send_;
    otf2::RegionRef post_;
    otf2::RegionRef wait_;
    otf2::CommunicatorRef world_;
    std::uint64_t requests_ = 0;
    std::map<Ticket, std::uint64_t> requests_of_;
};

InboxMailbox::InboxMailbox(std::vector<int> members, int job_size) : members_{std::move(members)}, job_size_{job_size}
{
}

InboxMailbox::~InboxMailbox() = default;

void InboxMailbox::send(int to, int tag, std::span<const std::byte> message)
{
    const std::int64_t begin_ns = base::now_ns();
    transmit(to, tag, message);
    if (record_) record_->sent(begin_ns, members_.at(static_cast<std::size_t>(to)), tag, message.size());
}

void InboxMailbox::post_receive(Ticket ticket, int from, int tag, std::span<std::byte> into)
{
    expect(from);
    inbox_.post(ticket, from, tag, into);
    if (record_) record_->posted(ticket);
}

std::optional<Mailbox::Ticket> InboxMailbox::wait_any(std::span<const Ticket> tickets,
                                                      std::optional<std::chrono::nanoseconds> at_most)
{
    const std::int64_t begin_ns = base::now_ns();
    const std::optional<Inbox::Arrival> arrival = inbox_.wait_any(tickets, at_most);
    const bool only_looked = !arrival && at_most == std::chrono::nanoseconds{0};
    if (record_ && !only_looked)
        record_->waited(begin_ns, arrival ? &*arrival : nullptr,
                        arrival ? members_.at(static_cast<std::size_t>(arrival->from)) : 0);
    if (!arrival) return std::nullopt;
    return arrival->ticket;
}

bool InboxMailbox::cancel(Ticket ticket)
{
    if (!inbox_.cancel(ticket)) return false;
    if (record_) record_->cancelled(ticket);
    return true;
}

void InboxMailbox::record(otf2::LocationRecorder* location)
{
    record_ = location != nullptr ? std::make_unique<Record>(*location, job_size_) : nullptr;
}

}  // namespace ddl
