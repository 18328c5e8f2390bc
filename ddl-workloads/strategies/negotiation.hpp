// SPDX-License-Identifier: Apache-2.0
// Horovod's negotiation without its communication: in rounds, ranks agree which gradients all of them are ready to
// average, whatever the order in which each rank's became ready. The data to exchange comes out and goes in as bits and
// texts; the caller transports them.
//
// A round, on all ranks:
//     offer()                      bits, to be combined with AND over all ranks
//     agree(combined)              agrees on tensors that are in the response cache and ready everywhere: the fast path
//     if (asks_coordinator())      some rank is ready for a tensor that is not in the cache: the slow path
//         questions()              goes to rank 0
//         answer(all questions)    on rank 0, which keeps the table of ready ranks by tensor
//         learn(answer)            on all ranks: the tensors that are now complete enter their caches
//     take_agreed()                returns the same tensors in the same order on all ranks
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

// A tensor that is ready to be averaged on a rank.
struct TensorRequest {
    std::string name;
    std::int64_t floats = 0;
    bool operator==(const TensorRequest&) const = default;
};

// A tensor that is ready on all ranks. If their requests contradict each other, `error` describes how.
struct TensorResponse {
    TensorRequest tensor;
    std::string error;
    bool operator==(const TensorResponse&) const = default;
};

// Cache of earlier agreements. In an offer, one bit for a slot stands for the tensor's name. The cache is equal on all
// ranks as long as all make the same calls; a full cache drops the least recently used entry.
class ResponseCache {
 public:
    explicit ResponseCache(std::size_t capacity) : capacity_{capacity} {}

    std::optional<std::size_t> slot(const std::string& name) const;
    const TensorRequest& at(std::size_t slot) const { return slots_.at(slot).tensor; }
    bool holds(std::size_t slot) const { return slots_.at(slot).used != 0; }
    std::size_t slots() const { return slots_.size(); }  // slots used so far

    void put(const TensorRequest& tensor);
    void touch(std::size_t slot) { slots_.at(slot).used = ++uses_; }
    void erase(std::size_t slot);

 private:
    struct Slot {
        TensorRequest tensor;
        std::uint64_t used = 0;  // time of the last use, counted in uses; 0: empty
    };
    std::size_t slot_for_another();

    std::size_t capacity_;
    std::uint64_t uses_ = 0;
    std::vector<Slot> slots_;
    std::unordered_map<std::string, std::size_t> by_name_;
};

// Tensors for which some ranks have long waited for others.
struct Stalled {
    std::vector<int> missing;  // ranks that are not ready
    std::vector<std::string> names;
};

// Text such as "rank 1 is not ready for conv1.weight, fc.bias and 7 more tensors, for which other ranks have waited
// 60s".
std::string stall_warning(const Stalled& stalled, std::int64_t after_ns);

// On rank 0: for each tensor, the ranks that are ready.
class MessageTable {
 public:
    explicit MessageTable(int ranks) : ranks_{static_cast<std::size_t>(ranks)} {}

    // Returns the response if this was the last rank missing; the tensor then leaves the table.
    std::optional<TensorResponse> add(int rank, const TensorRequest& tensor, std::int64_t since_ns);

    // Tensors that have waited since before `before_ns`, grouped by the ranks that are not ready. Each tensor is
    // reported once.
    std::vector<Stalled> stalled_since(std::int64_t before_ns);

 private:
    struct Row {
        std::vector<std::optional<std::int64_t>> floats;  // size of the tensor by rank; empty: rank not ready
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
    std::size_t cache = 1024;   // entries of the response cache
    std::int64_t stall_ns = 0;  // a rank that has waited this long asks rank 0 which ranks are missing; 0: never
};

// One rank's part of the negotiation. Used by one thread.
class Negotiator {
 public:
    explicit Negotiator(const NegotiationPlan& plan);

    // Call between rounds: the tensor is ready on this rank. Call again for the same tensor only after it was agreed.
    void ask(TensorRequest tensor, std::int64_t now_ns);

    // `call_waits`: a collective call other than a gradient exchange waits on this rank; it is made when one waits on
    // all ranks.
    std::vector<std::uint64_t> offer(bool call_waits, std::int64_t now_ns) const;
    void agree(std::span<const std::uint64_t> combined);
    bool call_waits_everywhere() const { return call_waits_everywhere_; }
    bool asks_coordinator() const { return asks_coordinator_; }

    std::string questions(std::int64_t now_ns);
    std::string answer(std::span<const std::string> questions, std::int64_t now_ns);  // rank 0; questions in rank order
    void learn(std::string_view answer);

    std::vector<TensorResponse> take_agreed();

    // On rank 0: tensors that ranks have long waited for; each is returned once.
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
    std::vector<Waiting> waiting_;  // ready here, not yet reported to rank 0, in the order in which they became ready
    std::vector<TensorResponse> agreed_;
    bool call_waits_everywhere_ = false;
    bool asks_coordinator_ = false;
};

}  // namespace ddl
