// SPDX-License-Identifier: Apache-2.0
// The transport thread of a rank: a first-in first-out line of exchanges, done one after the other over a transport.
#pragma once

#include "base/system/cpus.hpp"
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

// Step and bucket of an exchange, for the trace.
struct BucketTag {
    std::uint64_t step = 0;
    std::uint64_t bucket = 0;
};

// Precision of an exchanged mean: half takes half the bytes, and rounds each rank's share and their sum to 11 bits.
enum class Precision { full, half };

// Called for exchanges, on the transport thread, right before and after the transport's calls.
class ExchangeObserver {
 public:
    virtual ~ExchangeObserver() = default;
    virtual void exchange_begins(BucketTag /*tag*/, std::int64_t /*bytes*/) {}
    virtual void exchange_ends() {}
    virtual void parameters_begin(std::int64_t /*bytes*/) {}
    virtual void parameters_end() {}
    virtual void all_to_all_begins(std::int64_t /*bytes_sent*/) {}
    virtual void all_to_all_ends() {}
    // Exchanges of ranks beside all that: reports on steps, barriers, a model's first parameters.
    virtual void coordination_begins() {}
    virtual void coordination_ends() {}
};

// Work that the transport thread repeats beside the line: all ranks together. While there is one, a call in the
// line waits until a round finds that every rank has one, since ranks may be rounds apart.
class Rounds {
 public:
    virtual ~Rounds() = default;
    // After a round: when the next one is due.
    virtual std::chrono::steady_clock::time_point due() const = 0;
    // Collective. Whether a call waits on all ranks.
    virtual bool round(Transport& transport, bool call_waits) = 0;
};

class ExchangeThread {
 public:
    // Starts the thread; `connect` runs there (and so does MPI_Init). Throws what connect throws.
    explicit ExchangeThread(std::function<std::unique_ptr<Transport>()> connect);
    // Does what is in the line, then disconnects.
    ~ExchangeThread();
    ExchangeThread(const ExchangeThread&) = delete;
    ExchangeThread& operator=(const ExchangeThread&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    const nlohmann::ordered_json& description() const { return description_; }
    std::int64_t bytes_averaged() const { return bytes_averaged_; }

    // Each joins the line and returns at once; the future throws what the call threw. Memory behind a span must stay
    // until the future is ready.

    // The mean over all ranks, in place: the sum times 1/ranks, for every strategy the same arithmetic. `done`, if any,
    // is called on the transport thread before the future becomes ready, with what went wrong or null.
    std::future<void> average(std::span<float> values, BucketTag tag,
                              std::function<void(std::exception_ptr failure)> done = {},
                              Precision precision = Precision::full);

    // Collective. Whether averages of what this rank's GPU of that number has are made there: average_on_gpu(). If not,
    // they are exchanged through the host's memory.
    bool connect_gpus(int number);

    // Like average(), of numbers in the GPU's memory. `done` is called, and the future ready, as soon as that is
    // queued.
    std::future<void> average_on_gpu(const GpuNumbers& numbers, BucketTag tag,
                                     std::function<void(std::exception_ptr failure)> done = {});

    // The same of this rank's shard alone: what lies in the parts of other shards stays as it is.
    std::future<void> average_shard(std::span<float> values, std::vector<ShardPart> parts, BucketTag tag,
                                    std::function<void(std::exception_ptr failure)> done = {},
                                    Precision precision = Precision::full);

    // Updated parameters, by rank: every rank gets the shards of all others. In place.
    std::future<void> gather_shards(std::span<std::byte> all);

    std::future<void> all_gather(std::span<const std::byte> mine, std::span<std::byte> all);
    std::future<void> all_to_all(std::span<const std::byte> mine, std::vector<int> sent_bytes, std::span<std::byte> all,
                                 std::vector<int> received_bytes);
    std::future<void> broadcast(std::span<std::byte> bytes, int root);
    std::future<void> barrier();
    std::future<std::vector<std::string>> gather(std::string text);

    // Collective over these ranks, all of which give the same list: see Transport::group(). For calls on the transport
    // thread: post(). It lives as long as this.
    Transport& group(const std::vector<int>& ranks);

    // The transport's, whose calls it makes there in the line's order. A wait is one of them: what joins the line
    // meanwhile is done after it. What goes wrong in a call that does not wait is thrown by the next one.
    Mailbox& mailbox() { return mailbox_; }

    // Anything else that must be done by the thread that owns the transport, such as MPI calls of the trace recorder.
    std::future<void> post(std::function<void(Transport&)> call);

    // Collective: from now on these rounds run, too; null: no longer. They must outlive that.
    void go_round(Rounds* rounds);

    // Like average(), at once; to be called on the transport thread.
    void average_now(Transport& transport, std::span<float> values, BucketTag tag,
                     Precision precision = Precision::full);

    // From now on (in the line's order); null: no longer. The observer must outlive that.
    void observe(ExchangeObserver* observer);

    // This rank failed: the whole job ends with `code`, so that no rank waits for a dead one. Does not return.
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
        std::deque<std::future<void>> calls_;  // that may not have been made yet
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

    Transport* transport_ = nullptr;  // lives on the thread's stack from connected to closed
    int rank_ = 0;
    int size_ = 1;
    nlohmann::ordered_json description_;
    ExchangeObserver* observer_ = nullptr;  // of the transport thread, as the next seven
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

// Makes the transport that a text such as "mpi" names, on a thread bound to this rank's share of those CPUs, if any.
// Throws UsageError.
std::function<std::unique_ptr<Transport>()> connector(const std::string& text, const TransportPlan& plan,
                                                      const std::optional<base::CpuSet>& cpus = {});

}  // namespace ddl
