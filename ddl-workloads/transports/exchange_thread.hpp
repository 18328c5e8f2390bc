// SPDX-License-Identifier: Apache-2.0
// The transport thread of a rank: makes exchanges one after the other, in first-in first-out order, over a transport.
#pragma once

#include "base/system/cpus.hpp"
#include "ddl-workloads/transports/arrivals.hpp"
#include "ddl-workloads/transports/shard_parts.hpp"
#include "ddl-workloads/transports/transport.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace ddl {

// Step and bucket of an exchange, recorded in the trace.
struct BucketTag {
    std::uint64_t step = 0;
    std::uint64_t bucket = 0;
};

// Precision of an exchanged mean. Half precision transfers half the bytes, and rounds each rank's share and the sum to
// 11 bits.
enum class Precision { full, half };

// Called on the transport thread, right before and after the transport's calls.
class ExchangeObserver {
 public:
    virtual ~ExchangeObserver() = default;
    virtual void exchange_begins(BucketTag /*tag*/, std::int64_t /*bytes*/) {}
    virtual void exchange_ends() {}
    virtual void parameters_begin(std::int64_t /*bytes*/) {}
    virtual void parameters_end() {}
    virtual void all_to_all_begins(std::int64_t /*bytes_sent*/) {}
    virtual void all_to_all_ends() {}
    // Other communication between ranks: reports once a step, barriers, the model's initial parameters.
    virtual void coordination_begins() {}
    virtual void coordination_ends() {}
};

// Collective work that the transport thread repeats between the calls in its line. While rounds are active, a call
// waits until a round finds that every rank has a call waiting, since ranks may be rounds apart.
class Rounds {
 public:
    virtual ~Rounds() = default;
    // When the next round is due; called after each round.
    virtual std::chrono::steady_clock::time_point due() const = 0;
    // Collective. Returns true if a call waits on every rank.
    virtual bool round(Transport& transport, bool call_waits) = 0;
};

class ExchangeThread {
 public:
    // Starts the thread and runs `connect` on it (which calls MPI_Init, for example). Throws what `connect` throws.
    explicit ExchangeThread(std::function<std::unique_ptr<Transport>()> connect);
    // Makes the calls that are still queued, then disconnects.
    ~ExchangeThread();
    ExchangeThread(const ExchangeThread&) = delete;
    ExchangeThread& operator=(const ExchangeThread&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    const nlohmann::ordered_json& description() const { return description_; }
    std::int64_t bytes_averaged() const { return bytes_averaged_; }

    // Each of these queues a call and returns immediately. The future throws what the call threw. The memory of a span
    // must stay valid until the future is ready.

    // The mean over all ranks, in place: the sum times 1/ranks, computed the same way for every strategy. Before the
    // future becomes ready, `done` (if given) is called on the transport thread with the failure, or null.
    std::future<void> average(std::span<float> values, BucketTag tag,
                              std::function<void(std::exception_ptr failure)> done = {},
                              Precision precision = Precision::full);

    // Collective. `number` is this rank's GPU. Returns true if GPU memory can be averaged by average_on_gpu();
    // otherwise gradients are exchanged through host memory.
    bool connect_gpus(int number);

    // Like average(), for numbers in GPU memory. `done` is called, and the future becomes ready, as soon as the work is
    // queued.
    std::future<void> average_on_gpu(const GpuNumbers& numbers, BucketTag tag,
                                     std::function<void(std::exception_ptr failure)> done = {});

    // Like average(), but only this rank's shard gets the mean; the parts of other shards are left unchanged.
    std::future<void> average_shard(std::span<float> values, std::vector<ShardPart> parts, BucketTag tag,
                                    std::function<void(std::exception_ptr failure)> done = {},
                                    Precision precision = Precision::full);

    // All-gather of updated parameters, in place: `all` holds the shards in rank order, and every rank receives the
    // shards of all other ranks.
    std::future<void> gather_shards(std::span<std::byte> all);

    std::future<void> all_gather(std::span<const std::byte> mine, std::span<std::byte> all);
    std::future<void> all_to_all(std::span<const std::byte> mine, std::vector<int> sent_bytes, std::span<std::byte> all,
                                 std::vector<int> received_bytes);
    std::future<void> broadcast(std::span<std::byte> bytes, int root);
    std::future<void> barrier();
    std::future<std::vector<std::string>> gather(std::string text);

    // Collective over the listed ranks, all of which pass the same list: see Transport::group(). The result may only be
    // used on the transport thread (see post()), and lives as long as this object.
    Transport& group(const std::vector<int>& ranks);

    // The transport's mailbox, whose calls are queued like any other: a wait blocks all calls that are
    // queued after it. An error of a call that does not wait is thrown by the next call.
    Mailbox& mailbox() { return mailbox_; }

    // Messages of the transport's mailbox that are handled as they arrive, also between the queued calls. Use it on the
    // transport thread (see post()).
    Arrivals& arrivals() { return arrivals_; }

    // Any other call that must run on the thread that owns the transport, such as MPI calls of the trace recorder.
    std::future<void> post(std::function<void(Transport&)> call);

    // Collective: starts these rounds; null stops them. `rounds` must outlive their use.
    void go_round(Rounds* rounds);

    // Like average(), but executed immediately; call it on the transport thread.
    void average_now(Transport& transport, std::span<float> values, BucketTag tag,
                     Precision precision = Precision::full);

    // Sets the observer of all later queued calls; null: none. The observer must outlive its use.
    void observe(ExchangeObserver* observer);

    // Ends the whole job with exit code `code` because this rank failed, so that no rank waits for it. Does not return.
    [[noreturn]] void abort(int code) noexcept;

 private:
    using Call = std::packaged_task<void(Transport&)>;
    using Done = std::function<void(std::exception_ptr failure)>;

    std::future<void> coordinate(std::function<void(Transport&)> call);
    std::future<void> post_telling(Done done, std::function<void(Transport&)> call);
    void average_shard_now(Transport& transport, std::span<float> values, std::span<const ShardPart> parts,
                           BucketTag tag, Precision precision);
    template <class Value>
    void reduce_scatter(Transport& transport, std::vector<Value>& packed, std::span<const int> lengths, BucketTag tag);

    class LineMailbox : public Mailbox {
     public:
        explicit LineMailbox(ExchangeThread& exchanges) : exchanges_{exchanges} {}
        void send(int to, int tag, std::span<const std::byte> message) override;
        void post_receive(Ticket ticket, int from, int tag, std::span<std::byte> into) override;
        std::optional<Ticket> wait_any(std::span<const Ticket> tickets,
                                       std::optional<std::chrono::nanoseconds> at_most) override;
        bool cancel(Ticket ticket) override;

     private:
        void join_line(std::function<void(Mailbox&)> call);

        ExchangeThread& exchanges_;
        std::deque<std::future<void>> calls_;  // calls that may not have been made yet
    };

    void work(const std::function<std::unique_ptr<Transport>()>& connect, std::promise<void>& connected);
    std::optional<Call> next(Transport& transport);
    void wait_for_line(Transport& transport, std::unique_lock<std::mutex>& lock);
    std::optional<Call> next_after_rounds(Transport& transport);
    std::optional<Call> front();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Call> line_;
    bool closing_ = false;
    std::atomic<int> abort_code_ = 0;

    Transport* transport_ = nullptr;  // lives on the thread's stack while connected
    int rank_ = 0;
    int size_ = 1;
    nlohmann::ordered_json description_;
    ExchangeObserver* observer_ = nullptr;  // used by the transport thread only, as the next eight members
    Arrivals arrivals_;
    std::vector<Half> halves_;
    std::vector<float> packed_;
    std::vector<std::byte> shard_;
    GpuExchange* gpus_ = nullptr;
    Rounds* rounds_ = nullptr;
    std::chrono::steady_clock::time_point round_due_;
    std::vector<std::unique_ptr<Transport>> groups_;
    std::atomic<std::int64_t> bytes_averaged_ = 0;
    LineMailbox mailbox_{*this};
    std::thread thread_;
};

// Returns a function that makes the transport named by a text such as "mpi", on a thread bound to this rank's share of
// `cpus`, if given. Throws UsageError.
std::function<std::unique_ptr<Transport>()> connector(const std::string& text, const TransportPlan& plan,
                                                      const std::optional<base::CpuSet>& cpus = {});

}  // namespace ddl
