// SPDX-License-Identifier: Apache-2.0
// Messages of a coded training. The ranks of a symbol send their terms to the first of them, which adds them and sends
// the symbol to all ranks. The functions wait for the messages, on the thread of the exchanges.
#pragma once

#include "ddl-workloads/codes/layer_code.hpp"
#include "ddl-workloads/strategies/coded/blocks.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ddl {

struct SymbolRoutes {
    std::vector<std::vector<int>> ranks{};  // by symbol; the first one adds their terms
    std::optional<int> mine{};              // the symbol of which this rank has a term
};

template <class Value>
struct Symbols {
    std::vector<BlockOf<Value>> blocks{};    // by symbol
    std::vector<std::int64_t> arrived_ns{};  // by symbol
};

// A block that is a sum of other ranks' blocks.
struct Repair {
    int rank = 0;
    std::vector<Term> terms{};
};

class SymbolExchange {
 public:
    explicit SymbolExchange(ExchangeThread& exchanges) : exchanges_{exchanges} {}

    // Collective. `term` is this rank's; its shape is that of all symbols.
    template <class Value>
    Symbols<Value> gather(const SymbolRoutes& routes, const BlockOf<Value>& term);

    // Collective: replaces the blocks of the ranks that are repaired; `mine` is this rank's block.
    template <class Value>
    void repair(const std::vector<Repair>& repairs, BlockOf<Value>& mine);

    // The same on all ranks if they make the same exchanges.
    int next_tag();

 private:
    template <class Value>
    void gather(Mailbox& mailbox, const SymbolRoutes& routes, const BlockOf<Value>& term, Symbols<Value>& symbols);

    ExchangeThread& exchanges_;
    std::uint64_t exchanges_made_ = 0;
};

}  // namespace ddl
