// SPDX-License-Identifier: Apache-2.0
// Messages of a coded training. The ranks of a symbol send their terms to the first of them, which adds them and sends
// the symbol to all ranks. The functions wait for the messages, on the thread of the exchanges.
#pragma once

#include "ddl-workloads/strategies/coded/coded_layer.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ddl {

struct SymbolRoutes {
    std::vector<std::vector<int>> ranks{};  // by symbol; the first one adds their terms
    std::optional<int> mine{};              // the symbol of which this rank has a term
};

struct Symbols {
    std::vector<Block> blocks{};             // by symbol
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
    Symbols gather(const SymbolRoutes& routes, const Block& term);

    // Collective: replaces the blocks of the ranks that are repaired; `mine` is this rank's block.
    void repair(const std::vector<Repair>& repairs, Block& mine);

 private:
    int next_tag();
    void gather(Mailbox& mailbox, const SymbolRoutes& routes, const Block& term, Symbols& symbols);

    ExchangeThread& exchanges_;
    std::uint64_t exchanges_made_ = 0;
};

}  // namespace ddl
