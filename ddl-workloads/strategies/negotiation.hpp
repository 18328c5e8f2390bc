// SPDX-License-Identifier: Apache-2.0
// Which gradients all ranks are ready to average, agreed among them in rounds, whatever the order in which each became
// ready: Horovod's negotiation, without its communication. What ranks exchange comes out and goes in as bits
// and texts; who carries them is the caller's business.
//
// A round, on all ranks:
//     offer()                      bits, to be combined with AND over all ranks
//     agree(combined)              what is in the cache of responses and ready everywhere is agreed: the fast path
//     if (asks_coordinator())      some rank is ready for something that is not in the cache: the slow path
//         questions()              to rank 0,
//         answer(all questions)    which keeps the table of who is ready for what,
//         learn(answer)            and reports to all ranks what has become complete; they put it into their caches
//     take_agreed()                the same tensors in the same order on all ranks
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ddl {

// A tensor that a rank has ready to be averaged.
struct TensorRequest {
    std::string name;
    std::int64_t floats = 0;
    bool operator==(const TensorRequest&) const = default;
};

// A tensor that all ranks have ready, unless they contradict each other: then `error` says how.
struct TensorResponse {
    TensorRequest tensor;
    std::string error;
    bool operator==(const TensorResponse&) const = default;
};

// Earlier agreements, at a slot each: a bit stands for a name. Equal on all ranks as long as all make the same
// calls; a full one forgets what was used longest ago.
class ResponseCache {
 public:
    explicit ResponseCache(std::size_t capacity) : capacity_{capacity} {}

    std::optional<std::size_t> slot(const std::string& name) const;
    const TensorRequest& at(std::size_t slot) const { return slots_.at(slot).tensor; }
    bool holds(std::size_t slot) const { return slots_.at(slot).used != 0; }
    std::size_t slots() const { return slots_.size(); }  // ever used

    void put(const TensorRequest& tensor);
    void touch(std::size_t slot) { slots_.at(slot).used = ++uses_; }
    void erase(std::size_t slot);

 private:
    struct Slot {
        TensorRequest tensor;
        std::uint64_t used = 0;  // when last, in uses; 0: empty
    };
    std::size_t slot_for_another();

    std::size_t capacity_;
    std::uint64_t uses_ = 0;
    std::vector<Slot> slots_;
    std::unordered_map<std::string, std::size_t> by_name_;
};

// Some ranks have waited long for others.
struct Stalled {
    std::vector<int> missing;  // ranks that are not ready
    std::vector<std::string> names;
};

// "rank 1 is not ready for conv1.weight, fc.bias and 7 more tensors, for which other ranks have waited 60s"
std::string stall_warning(const Stalled& stalled, std::int64_t after_ns);

// Ranks that are ready, by tensor: kept by rank 0.
class MessageTable {
 public:
    explicit MessageTable(int ranks) : ranks_{static_cast<std::size_t>(ranks)} {}

    // The response if that was the last rank missing; then the tensor leaves the table.
    std::optional<TensorResponse> add(int rank, const TensorRequest& tensor, std::int64_t since_ns);

    // Tensors that wait since before that time, by the ranks that they wait for. Each is reported once.
    std::vector<Stalled> stalled_since(std::int64_t before_ns);

 private:
    struct Row {
        std::vector<std::optional<std::int64_t>> floats;  // by rank
        std::size_t ready = 0;
        std::int64_t since_ns = 0;
        std::uint64_t order = 0;
        bool reported = false;
    };

    std::size_t ranks_;
    std::uint64_t rows_made_ = 0;
    std::unordered_map<std::string, Row> rows_;
};

struct NegotiationPlan {
    int rank = 0;
    int ranks = 1;
    std::size_t cache = 1024;   // responses
    std::int64_t stall_ns = 0;  // a rank that waits for so long asks rank 0 who is missing; 0: never
};

// One rank's part. Used by one thread.
class Negotiator {
 public:
    explicit Negotiator(const NegotiationPlan& plan);

    // Between rounds: that tensor is ready here. Not again before it is agreed.
    void ask(TensorRequest tensor, std::int64_t now_ns);

    // call_waits: this rank waits in a collective call other than a gradient exchange; it is made when all ranks do.
    std::vector<std::uint64_t> offer(bool call_waits, std::int64_t now_ns) const;
    void agree(std::span<const std::uint64_t> combined);
    bool call_waits_everywhere() const { return call_waits_everywhere_; }
    bool asks_coordinator() const { return asks_coordinator_; }

    std::string questions(std::int64_t now_ns);
    std::string answer(std::span<const std::string> questions, std::int64_t now_ns);  // rank 0; by rank
    void learn(std::string_view answer);

    std::vector<TensorResponse> take_agreed();

    // Rank 0: tensors that ranks wait for, once each.
    std::vector<Stalled> stalled(std::int64_t now_ns);

 private:
    struct Waiting {
        TensorRequest tensor;
        std::int64_t since_ns = 0;
    };
    std::optional<std::size_t> cached(const TensorRequest& tensor) const;

    NegotiationPlan plan_;
    ResponseCache cache_;
    MessageTable table_;
    std::vector<Waiting> waiting_;  // ready here, unknown to rank 0, in the order in which they became so
    std::vector<TensorResponse> agreed_;
    bool call_waits_everywhere_ = false;
    bool asks_coordinator_ = false;
};

}  // namespace ddl
