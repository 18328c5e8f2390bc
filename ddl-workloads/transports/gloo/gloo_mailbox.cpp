// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/gloo/gloo_mailbox.hpp"

#include "base/error.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include <gloo/types.h>

namespace ddl {

namespace {

constexpr std::chrono::hours forever{24 * 365};

// Each message is sent as two Gloo transfers, header and content, since Gloo's receiver must know the size in advance.
struct Header {
    std::int64_t tag = 0;
    std::uint64_t bytes = 0;
};

// Slots that no collective uses. Transfers with the same slot between two ranks keep their order.
std::uint64_t header_slot()
{
    return gloo::Slot::build(gloo::kGatherSlotPrefix, 1);
}
std::uint64_t content_slot()
{
    return gloo::Slot::build(gloo::kGatherSlotPrefix, 2);
}

}  // namespace

// Receives the messages of one rank and delivers them to the inbox, until that rank is gone or this mailbox closes.
class GlooMailbox::Listener {
 public:
    Listener(gloo::Context& context, Inbox& inbox, int from) : context_{context}, inbox_{inbox}, from_{from}
    {
        thread_ = std::thread{[this] { listen(); }};
    }
    ~Listener()
    {
        {
            const std::lock_guard lock{mutex_};
            closing_ = true;
            if (buffer_ != nullptr) buffer_->abortWaitRecv();
        }
        thread_.join();
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

 private:
    void listen()
    try {
        Header header;
        const auto header_bytes = std::as_writable_bytes(std::span{&header, 1});
        while (received(header_slot(), header_bytes)) {
            std::vector<std::byte> content(header.bytes);
            if (!content.empty() && !received(content_slot(), content)) return;
            inbox_.deliver(from_, static_cast<int>(header.tag), std::move(content));
        }
    } catch (const std::exception& error) {
        inbox_.lose(from_, std::make_exception_ptr(base::Error{
                               base::join("cannot receive from rank ", from_, " over gloo: ", error.what())}));
    }

    // Returns false if this mailbox is closing.
    bool received(std::uint64_t slot, std::span<std::byte> into)
    {
        const Buffer buffer = context_.createUnboundBuffer(into.data(), into.size());
        const auto no_longer = [this](auto*) {
            const std::lock_guard lock{mutex_};
            buffer_ = nullptr;
        };
        const std::unique_ptr<gloo::transport::UnboundBuffer, decltype(no_longer)> used{buffer.get(), no_longer};
        {
            const std::lock_guard lock{mutex_};
            if (closing_) return false;
            buffer_ = buffer.get();
        }
        buffer->recv(from_, slot);
        return buffer->waitRecv(forever);
    }

    gloo::Context& context_;
    Inbox& inbox_;
    int from_;
    std::mutex mutex_;
    gloo::transport::UnboundBuffer* buffer_ = nullptr;  // the buffer that listen() waits for
    bool closing_ = false;
    std::thread thread_;
};

GlooMailbox::GlooMailbox(std::shared_ptr<gloo::Context> context, std::vector<int> members, int job_size)
    : InboxMailbox{std::move(members), job_size}, context_{std::move(context)}
{
}

GlooMailbox::~GlooMailbox()
{
    listeners_.clear();
    if (!sender_.joinable()) return;
    {
        const std::lock_guard lock{mutex_};
        closing_ = true;
        if (!parcels_.empty()) parcels_.front().buffer->abortWaitSend();
    }
    changed_.notify_one();
    sender_.join();
}

void GlooMailbox::transmit(int to, int tag, std::span<const std::byte> message)
{
    if (!context_ || to == context_->rank) return inbox().deliver(to, tag, {message.begin(), message.end()});
    const Header header{.tag = tag, .bytes = message.size()};
    const auto bytes = std::as_bytes(std::span{&header, 1});
    start(to, header_slot(), {bytes.begin(), bytes.end()});
    if (!message.empty()) start(to, content_slot(), {message.begin(), message.end()});
}

void GlooMailbox::start(int to, std::uint64_t slot, std::vector<std::byte> bytes)
{
    Parcel parcel{.bytes = std::move(bytes), .buffer = nullptr, .to = to};
    parcel.buffer = context_->createUnboundBuffer(parcel.bytes.data(), parcel.bytes.size());
    parcel.buffer->send(to, slot);
    {
        const std::lock_guard lock{mutex_};
        parcels_.push_back(std::move(parcel));
    }
    if (sender_.joinable())
        changed_.notify_one();
    else
        sender_ = std::thread{[this] { finish_parcels(); }};
}

// Completes sends in the order in which they were started: a rank that does not receive only makes its senders keep
// their messages in memory.
void GlooMailbox::finish_parcels()
{
    std::unique_lock lock{mutex_};
    while (true) {
        changed_.wait(lock, [this] { return closing_ || !parcels_.empty(); });
        if (closing_) return;
        Parcel& parcel = parcels_.front();  // the reference stays valid while others are added
        lock.unlock();
        try {
            parcel.buffer->waitSend(forever);
        } catch (const std::exception& error) {
            inbox().lose(parcel.to, std::make_exception_ptr(base::Error{
                                        base::join("cannot send to rank ", parcel.to, " over gloo: ", error.what())}));
        }
        lock.lock();
        if (closing_) return;
        parcels_.pop_front();
    }
}

void GlooMailbox::expect(int from)
{
    if (!context_ || from == context_->rank) return;
    std::unique_ptr<Listener>& listener = listeners_[from];
    if (!listener) listener = std::make_unique<Listener>(*context_, inbox(), from);
}

}  // namespace ddl
