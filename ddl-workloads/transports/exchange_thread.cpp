// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/exchange_thread.hpp"

#include "base/system/local_rank.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include <unistd.h>

namespace ddl {

namespace {
constexpr std::chrono::seconds abort_patience{2};
}

ExchangeThread::ExchangeThread(std::function<std::unique_ptr<Transport>()> connect)
{
    std::promise<void> connected;
    thread_ = std::thread{[this, connect = std::move(connect), &connected] { work(connect, connected); }};
    try {
        connected.get_future().get();
    } catch (...) {
        thread_.join();
        throw;
    }
}

ExchangeThread::~ExchangeThread()
{
    {
        const std::lock_guard lock{mutex_};
        closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void ExchangeThread::work(const std::function<std::unique_ptr<Transport>()>& connect, std::promise<void>& connected)
{
    std::unique_ptr<Transport> transport;
    try {
        transport = connect();
        transport_ = transport.get();
        rank_ = transport->rank();
        size_ = transport->size();
        description_ = transport->describe();
    } catch (...) {
        connected.set_exception(std::current_exception());
        return;
    }
    connected.set_value();
    while (std::optional<Call> call = rounds_ != nullptr ? next_after_rounds(*transport) : next(*transport))
        (*call)(*transport);
    groups_.clear();
    const std::lock_guard lock{mutex_};
    transport_ = nullptr;
}

std::optional<ExchangeThread::Call> ExchangeThread::next(Transport& transport)
{
    std::unique_lock lock{mutex_};
    wait_for_line(transport, lock);
    if (abort_code_ != 0) transport.abort(abort_code_);
    return front();
}

// Call with the lock held. While the line is empty, this rank's messages under way are advanced, and those that arrive
// are handled. Messages are expected for long only while a rank is late: then the others look less often, since each
// look takes time from their computing.
void ExchangeThread::wait_for_line(Transport& transport, std::unique_lock<std::mutex>& lock)
{
    constexpr std::chrono::microseconds look_again{100};
    constexpr std::chrono::microseconds look_for_late{1000};
    const auto is_over = [this] { return abort_code_ != 0 || closing_ || !line_.empty(); };
    while (!is_over()) {
        lock.unlock();
        const bool sends = transport.advance();
        if (!arrivals_.empty()) arrivals_.handle_arrived(transport.mailbox());
        lock.lock();
        if (!sends && arrivals_.empty()) break;
        changed_.wait_for(lock, arrivals_.empty() ? look_again : look_for_late, is_over);
    }
    changed_.wait(lock, is_over);
}

std::optional<ExchangeThread::Call> ExchangeThread::next_after_rounds(Transport& transport)
{
    while (true) {
        std::unique_lock lock{mutex_};
        changed_.wait_until(lock, round_due_, [this] { return abort_code_ != 0 || closing_; });
        if (abort_code_ != 0) transport.abort(abort_code_);
        if (closing_) return front();
        const bool call_waits = !line_.empty();
        lock.unlock();

        const bool everywhere = rounds_->round(transport, call_waits);
        round_due_ = rounds_->due();
        if (!everywhere) continue;
        round_due_ = {};  // the queued call is made immediately
        lock.lock();
        return front();
    }
}

// Call with the lock held.
std::optional<ExchangeThread::Call> ExchangeThread::front()
{
    if (line_.empty()) return std::nullopt;
    Call call = std::move(line_.front());
    line_.pop_front();
    return call;
}

void ExchangeThread::go_round(Rounds* rounds)
{
    post([this, rounds](Transport&) { rounds_ = rounds; }).get();
}

Transport& ExchangeThread::group(const std::vector<int>& ranks)
{
    Transport* made = nullptr;
    post([&](Transport& transport) { made = groups_.emplace_back(transport.group(ranks)).get(); }).get();
    return *made;
}

void ExchangeThread::LineMailbox::join_line(std::function<void(Mailbox&)> call)
{
    constexpr std::chrono::seconds at_once{0};
    while (!calls_.empty() && calls_.front().wait_for(at_once) == std::future_status::ready) {
        std::future<void> made = std::move(calls_.front());
        calls_.pop_front();
        made.get();
    }
    calls_.push_back(exchanges_.post([call = std::move(call)](Transport& transport) { call(transport.mailbox()); }));
}

void ExchangeThread::LineMailbox::send(int to, int tag, std::span<const std::byte> message)
{
    join_line([to, tag, copy = std::vector<std::byte>{message.begin(), message.end()}](Mailbox& mailbox) {
        mailbox.send(to, tag, copy);
    });
}

void ExchangeThread::LineMailbox::post_receive(Ticket ticket, int from, int tag, std::span<std::byte> into)
{
    join_line([ticket, from, tag, into](Mailbox& mailbox) { mailbox.post_receive(ticket, from, tag, into); });
}

std::optional<Mailbox::Ticket> ExchangeThread::LineMailbox::wait_any(std::span<const Ticket> tickets,
                                                                     std::optional<std::chrono::nanoseconds> at_most)
{
    std::optional<Ticket> ended;
    exchanges_.post([&](Transport& transport) { ended = transport.mailbox().wait_any(tickets, at_most); }).get();
    return ended;
}

bool ExchangeThread::LineMailbox::cancel(Ticket ticket)
{
    bool is_cancelled = false;
    exchanges_.post([&](Transport& transport) { is_cancelled = transport.mailbox().cancel(ticket); }).get();
    return is_cancelled;
}

std::future<void> ExchangeThread::post(std::function<void(Transport&)> function)
{
    Call call{std::move(function)};
    std::future<void> done = call.get_future();
    {
        const std::lock_guard lock{mutex_};
        line_.push_back(std::move(call));
    }
    changed_.notify_one();
    return done;
}

// Calls `done` before the future becomes ready.
std::future<void> ExchangeThread::post_telling(Done done, std::function<void(Transport&)> call)
{
    return post([done = std::move(done), call = std::move(call)](Transport& transport) {
        try {
            call(transport);
        } catch (...) {
            if (done) done(std::current_exception());
            throw;
        }
        if (done) done(nullptr);
    });
}

std::future<void> ExchangeThread::average(std::span<float> values, BucketTag tag, Done done, Precision precision)
{
    return post_telling(std::move(done), [this, values, tag, precision](Transport& transport) {
        average_now(transport, values, tag, precision);
    });
}

void ExchangeThread::average_now(Transport& transport, std::span<float> values, BucketTag tag, Precision precision)
{
    const bool half = precision == Precision::half;
    const auto bytes = static_cast<std::int64_t>(half ? values.size() * sizeof(Half) : values.size_bytes());
    if (half) {  // values are divided before they are added, so that the sum does not overflow a half
        const float share = 1.0F / static_cast<float>(size_);
        halves_.resize(values.size());
        std::transform(values.begin(), values.end(), halves_.begin(), [share](float x) { return to_half(x * share); });
    }
    if (observer_ != nullptr) observer_->exchange_begins(tag, bytes);
    if (half)
        transport.sum(std::span{halves_});
    else
        transport.mean(values);
    if (observer_ != nullptr) observer_->exchange_ends();
    if (half) std::transform(halves_.begin(), halves_.end(), values.begin(), to_float);
    bytes_averaged_ += bytes;
}

bool ExchangeThread::connect_gpus(int number)
{
    post([this, number](Transport& transport) {
        gpus_ = transport.connect_gpus(number);
        description_ = transport.describe();
    }).get();
    return gpus_ != nullptr;
}

std::future<void> ExchangeThread::average_on_gpu(const GpuNumbers& numbers, BucketTag tag, Done done)
{
    return post_telling(std::move(done), [this, numbers, tag](Transport&) {
        const auto bytes = static_cast<std::int64_t>(numbers.count * sizeof(float));
        if (observer_ != nullptr) observer_->exchange_begins(tag, bytes);
        gpus_->mean(numbers);
        if (observer_ != nullptr) observer_->exchange_ends();
        bytes_averaged_ += bytes;
    });
}

std::future<void> ExchangeThread::average_shard(std::span<float> values, std::vector<ShardPart> parts, BucketTag tag,
                                                Done done, Precision precision)
{
    return post_telling(std::move(done),
                        [this, values, parts = std::move(parts), tag, precision](Transport& transport) {
                            average_shard_now(transport, values, parts, tag, precision);
                        });
}

void ExchangeThread::average_shard_now(Transport& transport, std::span<float> values, std::span<const ShardPart> parts,
                                       BucketTag tag, Precision precision)
{
    const float share = 1.0F / static_cast<float>(size_);
    const std::vector<int> lengths = shard_lengths(parts, size_);
    const auto mine = std::accumulate(lengths.begin(), lengths.begin() + rank_, std::ptrdiff_t{0});
    if (precision == Precision::half) {
        pack(values, parts, size_, halves_, [share](float x) { return to_half(x * share); });
        reduce_scatter(transport, halves_, lengths, tag);
        unpack(halves_.data() + mine, parts, rank_, values, to_float);
    } else {
        pack(values, parts, size_, packed_, [](float x) { return x; });
        reduce_scatter(transport, packed_, lengths, tag);
        unpack(packed_.data() + mine, parts, rank_, values, [share](float x) { return with_one_nan(x * share); });
    }
}

template <class Value>
void ExchangeThread::reduce_scatter(Transport& transport, std::vector<Value>& packed, std::span<const int> lengths,
                                    BucketTag tag)
{
    const auto bytes = static_cast<std::int64_t>(packed.size() * sizeof(Value));
    if (observer_ != nullptr) observer_->exchange_begins(tag, bytes);
    transport.reduce_scatter(packed, lengths);
    if (observer_ != nullptr) observer_->exchange_ends();
    bytes_averaged_ += bytes;
}

std::future<void> ExchangeThread::gather_shards(std::span<std::byte> all)
{
    return post([this, all](Transport& transport) {
        const std::size_t length = all.size() / static_cast<std::size_t>(size_);
        const auto mine = all.subspan(length * static_cast<std::size_t>(rank_), length);
        shard_.assign(mine.begin(), mine.end());
        if (observer_ != nullptr) observer_->parameters_begin(static_cast<std::int64_t>(all.size()));
        transport.all_gather(shard_, all);
        if (observer_ != nullptr) observer_->parameters_end();
    });
}

std::future<void> ExchangeThread::coordinate(std::function<void(Transport&)> call)
{
    return post([this, call = std::move(call)](Transport& transport) {
        if (observer_ != nullptr) observer_->coordination_begins();
        call(transport);
        if (observer_ != nullptr) observer_->coordination_ends();
    });
}

std::future<void> ExchangeThread::all_gather(std::span<const std::byte> mine, std::span<std::byte> all)
{
    return coordinate([mine, all](Transport& transport) { transport.all_gather(mine, all); });
}

std::future<void> ExchangeThread::all_to_all(std::span<const std::byte> mine, std::vector<int> sent_bytes,
                                             std::span<std::byte> all, std::vector<int> received_bytes)
{
    return post(
        [this, mine, sent = std::move(sent_bytes), all, received = std::move(received_bytes)](Transport& transport) {
            if (observer_ != nullptr) observer_->all_to_all_begins(static_cast<std::int64_t>(mine.size()));
            transport.all_to_all(mine, sent, all, received);
            if (observer_ != nullptr) observer_->all_to_all_ends();
        });
}

std::future<void> ExchangeThread::broadcast(std::span<std::byte> bytes, int root)
{
    return coordinate([bytes, root](Transport& transport) { transport.broadcast(bytes, root); });
}

std::future<void> ExchangeThread::barrier()
{
    return coordinate([](Transport& transport) { transport.barrier(); });
}

std::future<std::vector<std::string>> ExchangeThread::gather(std::string text)
{
    const auto texts = std::make_shared<std::promise<std::vector<std::string>>>();
    post([text = std::move(text), texts](Transport& transport) {
        try {
            texts->set_value(transport.gather(text));
        } catch (...) {
            texts->set_exception(std::current_exception());
        }
    });
    return texts->get_future();
}

void ExchangeThread::observe(ExchangeObserver* observer)
{
    post([this, observer](Transport&) { observer_ = observer; }).get();
}

void ExchangeThread::abort(int code) noexcept
{
    {
        const std::lock_guard lock{mutex_};
        abort_code_ = code;
        if (transport_ != nullptr) transport_->ask_abort(code);
    }
    changed_.notify_one();
    std::this_thread::sleep_for(abort_patience);
    _exit(code);
}

std::function<std::unique_ptr<Transport>()> connector(const std::string& text, const TransportPlan& plan,
                                                      const std::optional<base::CpuSet>& cpus)
{
    const base::PlugInText plug_in = base::parse_plug_in(text);
    const TransportCard& card = transports().find(plug_in.name);
    const base::Settings settings = transports().settings(card, plug_in.options);
    return [&card, settings, plan, cpus] {
        if (cpus) base::bind_this_thread(base::share_of(base::physical_cores(*cpus), base::local_rank()));
        return card.make(settings, plan);
    };
}

}  // namespace ddl
