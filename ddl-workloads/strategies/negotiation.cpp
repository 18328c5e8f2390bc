// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/negotiation.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace ddl {

namespace {

// Layout of a rank's offer: one word of flags, a bit for each ready tensor, a bit for each cached response that is
// valid.
constexpr std::uint64_t all_is_cached = 1U;
constexpr std::uint64_t call_is_waiting = 2U;
constexpr std::size_t bits_of_a_word = 64;

std::size_t words_of(std::size_t slots)
{
    return (slots + bits_of_a_word - 1) / bits_of_a_word;
}

bool bit(std::span<const std::uint64_t> words, std::size_t index)
{
    return (words[index / bits_of_a_word] >> (index % bits_of_a_word) & 1U) != 0;
}

std::uint64_t mask(std::size_t index)
{
    return std::uint64_t{1} << (index % bits_of_a_word);
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- cache

std::optional<std::size_t> ResponseCache::slot(const std::string& name) const
{
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional{found->second};
}

void ResponseCache::put(const TensorRequest& tensor)
{
    if (capacity_ == 0) return;
    const std::optional<std::size_t> known = slot(tensor.name);
    const std::size_t index = known ? *known : slot_for_another();
    if (holds(index)) by_name_.erase(slots_[index].tensor.name);
    slots_[index].tensor = tensor;
    by_name_[tensor.name] = index;
    touch(index);
}

std::size_t ResponseCache::slot_for_another()
{
    const auto less_used = [](const Slot& one, const Slot& other) { return one.used < other.used; };
    const auto least_used = std::min_element(slots_.begin(), slots_.end(), less_used);
    if (least_used != slots_.end() && (least_used->used == 0 || slots_.size() == capacity_))
        return static_cast<std::size_t>(least_used - slots_.begin());
    slots_.emplace_back();
    return slots_.size() - 1;
}

void ResponseCache::erase(std::size_t slot)
{
    by_name_.erase(slots_.at(slot).tensor.name);
    slots_[slot] = {};
}

// ------------------------------------------------------------------------------------------------------------- table

std::optional<TensorResponse> MessageTable::add(int rank, const TensorRequest& tensor, std::int64_t since_ns)
{
    Row& row = rows_[tensor.name];
    if (row.floats.empty()) {
        row.floats.resize(ranks_);
        row.since_ns = since_ns;
        row.order = ++rows_made_;
    }
    std::optional<std::int64_t>& floats = row.floats.at(static_cast<std::size_t>(rank));
    if (floats) throw std::logic_error{"rank " + std::to_string(rank) + " requested twice: " + tensor.name};
    floats = tensor.floats;
    row.since_ns = std::min(row.since_ns, since_ns);
    if (++row.ready < ranks_) return std::nullopt;

    TensorResponse response{.tensor = {tensor.name, *row.floats.front()}, .error = {}};
    for (std::size_t other = 1; other < ranks_ && response.error.empty(); ++other)
        if (*row.floats[other] != *row.floats.front())
            response.error = base::join("gradient ", tensor.name, " has ", *row.floats.front(),
                                        " numbers on rank 0 and ", *row.floats[other], " on rank ", other);
    rows_.erase(tensor.name);
    return response;
}

std::vector<Stalled> MessageTable::stalled_since(std::int64_t before_ns)
{
    std::map<std::vector<int>, std::map<std::uint64_t, std::string>> names_by_missing;
    for (auto& [name, row] : rows_) {
        if (row.reported || row.since_ns > before_ns) continue;
        row.reported = true;
        std::vector<int> missing;
        for (std::size_t rank = 0; rank < ranks_; ++rank)
            if (!row.floats[rank]) missing.push_back(static_cast<int>(rank));
        names_by_missing[missing][row.order] = name;
    }
    std::vector<Stalled> all;
    for (const auto& [missing, names] : names_by_missing) {
        all.push_back({.missing = missing, .names = {}});
        for (const auto& [order, name] : names) all.back().names.push_back(name);
    }
    return all;
}

std::string stall_warning(const Stalled& stalled, std::int64_t after_ns)
{
    constexpr std::size_t shown = 8;
    std::vector<std::string> ranks;
    for (const int rank : stalled.missing) ranks.push_back(std::to_string(rank));
    const std::size_t count = std::min(shown, stalled.names.size());
    std::string text = base::join(ranks.size() == 1 ? "rank " : "ranks ", base::join_words(ranks, ", "),
                                  ranks.size() == 1 ? " is" : " are", " not ready for ",
                                  base::join_words(std::span{stalled.names}.first(count), ", "));
    if (const std::size_t more = stalled.names.size() - count; more > 0)
        text += base::join(" and ", more, more == 1 ? " more tensor" : " more tensors");
    return text + ", for which other ranks have waited " + base::format(base::Nanoseconds{after_ns});
}

// ---------------------------------------------------------------------------------------------------------- one rank

Negotiator::Negotiator(const NegotiationPlan& plan) : plan_{plan}, cache_{plan.cache}, table_{plan.ranks} {}

void Negotiator::ask(TensorRequest tensor, std::int64_t now_ns)
{
    waiting_.push_back({.tensor = std::move(tensor), .since_ns = now_ns});
}

// Cache slot of the tensor, if the response stored there matches it.
std::optional<std::size_t> Negotiator::cached(const TensorRequest& tensor) const
{
    const std::optional<std::size_t> slot = cache_.slot(tensor.name);
    return slot && cache_.at(*slot) == tensor ? slot : std::nullopt;
}

std::vector<std::uint64_t> Negotiator::offer(bool call_waits, std::int64_t now_ns) const
{
    const std::size_t words = words_of(cache_.slots());
    std::vector<std::uint64_t> bits(1 + 2 * words, 0);
    const auto ready = std::span{bits}.subspan(1, words);
    const auto valid = std::span{bits}.subspan(1 + words);
    std::fill(valid.begin(), valid.end(), ~std::uint64_t{0});
    bits[0] = all_is_cached | (call_waits ? call_is_waiting : 0);
    for (const Waiting& one : waiting_) {
        const std::optional<std::size_t> slot = cache_.slot(one.tensor.name);
        if (!slot) {
            bits[0] &= ~all_is_cached;
            continue;
        }
        // A rank that has waited long for a tensor invalidates its response: then all ranks report to rank 0 whether
        // they have it ready.
        const bool stalls = plan_.stall_ns > 0 && now_ns - one.since_ns >= plan_.stall_ns;
        if (cached(one.tensor) && !stalls)
            ready[*slot / bits_of_a_word] |= mask(*slot);
        else
            valid[*slot / bits_of_a_word] &= ~mask(*slot);
    }
    return bits;
}

void Negotiator::agree(std::span<const std::uint64_t> combined)
{
    const std::size_t words = words_of(cache_.slots());
    const auto ready = combined.subspan(1, words);
    const auto valid = combined.subspan(1 + words);
    call_waits_everywhere_ = (combined[0] & call_is_waiting) != 0;
    asks_coordinator_ = (combined[0] & all_is_cached) == 0;
    for (std::size_t slot = 0; slot < cache_.slots(); ++slot) {
        if (!cache_.holds(slot)) continue;
        if (!bit(valid, slot)) {
            cache_.erase(slot);
            asks_coordinator_ = true;
        } else if (bit(ready, slot)) {
            const TensorRequest& tensor = cache_.at(slot);
            std::erase_if(waiting_, [&](const Waiting& one) { return one.tensor.name == tensor.name; });
            agreed_.push_back({.tensor = tensor, .error = {}});
            cache_.touch(slot);
        }
    }
}

std::string Negotiator::questions(std::int64_t now_ns)
{
    auto all = nlohmann::json::array();
    const auto send = [&](const Waiting& one) {
        if (cached(one.tensor)) return false;
        all.push_back({one.tensor.name, one.tensor.floats, now_ns - one.since_ns});
        return true;
    };
    std::erase_if(waiting_, send);
    return all.dump();
}

std::string Negotiator::answer(std::span<const std::string> questions, std::int64_t now_ns)
{
    auto all = nlohmann::json::array();
    for (std::size_t rank = 0; rank < questions.size(); ++rank) {
        for (const auto& question : nlohmann::json::parse(questions[rank])) {
            const TensorRequest tensor{.name = question.at(0), .floats = question.at(1)};
            const std::int64_t since_ns = now_ns - question.at(2).get<std::int64_t>();
            if (const auto response = table_.add(static_cast<int>(rank), tensor, since_ns))
                all.push_back({response->tensor.name, response->tensor.floats, response->error});
        }
    }
    return all.dump();
}

void Negotiator::learn(std::string_view answer)
{
    for (const auto& one : nlohmann::json::parse(answer)) {
        agreed_.push_back({.tensor = {.name = one.at(0), .floats = one.at(1)}, .error = one.at(2)});
        if (agreed_.back().error.empty()) cache_.put(agreed_.back().tensor);
    }
}

std::vector<TensorResponse> Negotiator::take_agreed()
{
    return std::exchange(agreed_, {});
}

std::vector<Stalled> Negotiator::stalled(std::int64_t now_ns)
{
    return plan_.stall_ns > 0 ? table_.stalled_since(now_ns - plan_.stall_ns) : std::vector<Stalled>{};
}

}  // namespace ddl
