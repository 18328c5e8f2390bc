// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/mpi/mpi_mailbox.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "ddl-workloads/transports/mpi/check.hpp"

#include <algorithm>
#include <utility>

namespace ddl {

namespace {

// MPI's tag 0 is used by the trace's clock comparison.
int mpi_tag(int tag)
{
    return tag + 1;
}

}  // namespace

MpiMailbox::MpiMailbox(MPI_Comm communicator, const Progress& progress, std::function<void()> poll)
    : communicator_{communicator}, waiting_{progress}, poll_{std::move(poll)}
{
}

MpiMailbox::~MpiMailbox()
{
    try {
        end();
    } catch (const std::exception& error) {
        base::warn(error.what());
    }
}

void MpiMailbox::end()
{
    for (auto& [ticket, receive] : receives_) {
        if (receive.done) continue;
        MPI_Cancel(&receive.request);
        MPI_Wait(&receive.request, MPI_STATUS_IGNORE);
    }
    constexpr std::int64_t patience_ns = 10'000'000'000;
    const std::int64_t until_ns = base::now_ns() + patience_ns;
    waiting_.begin();
    while (advance() && base::now_ns() < until_ns) {
        poll_();
        waiting_.pause();
    }
    static auto& given_up = *new std::list<Sent>;  // never freed, as MPI may still read the messages
    for (Sent& one : sent_) MPI_Request_free(&one.request);
    given_up.splice(given_up.end(), sent_);
}

void MpiMailbox::send(int to, int tag, std::span<const std::byte> message)
{
    advance();
    Sent& sent = sent_.emplace_back(Sent{.message = {message.begin(), message.end()}});
    check_mpi(MPI_Isend(sent.message.data(), static_cast<int>(sent.message.size()), MPI_BYTE, to, mpi_tag(tag),
                        communicator_, &sent.request),
              "MPI_Isend");
}

void MpiMailbox::post_receive(Ticket ticket, int from, int tag, std::span<std::byte> into)
{
    const auto [posted, is_new] = receives_.try_emplace(ticket);
    if (!is_new) base::fail("a receive with the ticket ", ticket, " is already in flight");
    check_mpi(MPI_Irecv(into.data(), static_cast<int>(into.size()), MPI_BYTE, from, mpi_tag(tag), communicator_,
                        &posted->second.request),
              "MPI_Irecv");
}

std::optional<Mailbox::Ticket> MpiMailbox::wait_any(std::span<const Ticket> tickets,
                                                    std::optional<std::chrono::nanoseconds> at_most)
{
    std::vector<MPI_Request> requests;
    for (const Ticket ticket : tickets) {
        const auto found = receives_.find(ticket);
        if (found == receives_.end()) base::fail("no receive with the ticket ", ticket, " is in flight");
        if (found->second.done) {
            receives_.erase(found);
            return ticket;
        }
        requests.push_back(found->second.request);
    }
    const std::int64_t begin_ns = base::now_ns();
    waiting_.begin();
    while (true) {
        int place = MPI_UNDEFINED;
        int done = 0;
        check_mpi(MPI_Testany(static_cast<int>(requests.size()), requests.data(), &place, &done, MPI_STATUS_IGNORE),
                  "MPI_Testany");
        if (done != 0 && place != MPI_UNDEFINED) {
            const Ticket ticket = tickets[static_cast<std::size_t>(place)];
            receives_.erase(ticket);
            return ticket;
        }
        if (at_most && base::now_ns() - begin_ns >= at_most->count()) return std::nullopt;
        poll_();
        waiting_.pause();
    }
}

bool MpiMailbox::cancel(Ticket ticket)
{
    const auto found = receives_.find(ticket);
    if (found == receives_.end()) base::fail("no receive with the ticket ", ticket, " is in flight");
    if (found->second.done) return false;
    MPI_Status status{};
    int is_done = 0;
    check_mpi(MPI_Test(&found->second.request, &is_done, &status), "MPI_Test");  // it may have arrived
    if (is_done != 0) {
        found->second.done = true;
        return false;
    }
    int is_cancelled = 0;
    check_mpi(MPI_Cancel(&found->second.request), "MPI_Cancel");
    check_mpi(MPI_Wait(&found->second.request, &status), "MPI_Wait");
    check_mpi(MPI_Test_cancelled(&status, &is_cancelled), "MPI_Test_cancelled");
    if (is_cancelled == 0) {
        found->second.done = true;
        return false;
    }
    receives_.erase(found);
    return true;
}

bool MpiMailbox::advance()
{
    std::erase_if(sent_, [](Sent& sent) {
        int done = 0;
        check_mpi(MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        return done != 0;
    });
    return !sent_.empty();
}

}  // namespace ddl
