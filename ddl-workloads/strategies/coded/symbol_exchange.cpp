// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/symbol_exchange.hpp"

#include "base/system/clock.hpp"
#include "ddl-workloads/codes/matrix.hpp"

#include <span>
#include <utility>

namespace ddl {

namespace {

template <class Value>
std::span<const std::byte> bytes_of(const BlockOf<Value>& block)
{
    return std::as_bytes(std::span{block.data(), static_cast<std::size_t>(block.size())});
}

template <class Value>
std::span<std::byte> bytes_of(BlockOf<Value>& block)
{
    return std::as_writable_bytes(values_of(block));
}

}  // namespace

template <class Value>
Symbols<Value> SymbolExchange::gather(const SymbolRoutes& routes, const BlockOf<Value>& term)
{
    Symbols<Value> symbols{.blocks = std::vector(routes.ranks.size(), BlockOf<Value>{term.rows(), term.cols()}),
                           .arrived_ns = std::vector<std::int64_t>(routes.ranks.size())};
    exchanges_.post([&](Transport& transport) { gather(transport.mailbox(), routes, term, symbols); }).get();
    return symbols;
}

template <class Value>
void SymbolExchange::gather(Mailbox& mailbox, const SymbolRoutes& routes, const BlockOf<Value>& term,
                            Symbols<Value>& symbols)
{
    const int tag_of_terms = next_tag();
    const int tag_of_symbols = next_tag();
    const int me = exchanges_.rank();
    std::vector<Mailbox::Ticket> symbols_due;  // a symbol's ticket is its number
    for (std::size_t symbol = 0; symbol < routes.ranks.size(); ++symbol) {
        const int from = routes.ranks[symbol].front();
        if (from == me) continue;
        symbols_due.push_back(symbol);
        mailbox.post_receive(symbol, from, tag_of_symbols, bytes_of(symbols.blocks[symbol]));
    }
    const auto mine = static_cast<std::size_t>(routes.mine.value_or(0));
    if (routes.mine && routes.ranks[mine].front() != me) {
        mailbox.send(routes.ranks[mine].front(), tag_of_terms, bytes_of(term));
    } else if (routes.mine) {
        const std::vector<int>& ranks = routes.ranks[mine];
        std::vector<BlockOf<Value>> terms(ranks.size() - 1, term);
        std::vector<Mailbox::Ticket> terms_due;
        for (std::size_t i = 0; i < terms.size(); ++i) {
            terms_due.push_back(routes.ranks.size() + i);
            mailbox.post_receive(terms_due.back(), ranks[i + 1], tag_of_terms, bytes_of(terms[i]));
        }
        while (!terms_due.empty()) std::erase(terms_due, mailbox.wait_any(terms_due).value());
        BlockOf<Value>& sum = symbols.blocks[mine];
        sum = term;
        for (const BlockOf<Value>& one : terms) sum += one;  // in this order, whichever arrived first
        for (int to = 0; to < exchanges_.size(); ++to)
            if (to != me) mailbox.send(to, tag_of_symbols, bytes_of(std::as_const(sum)));
        symbols.arrived_ns[mine] = base::now_ns();
    }
    while (!symbols_due.empty()) {
        const Mailbox::Ticket symbol = mailbox.wait_any(symbols_due).value();
        symbols.arrived_ns[symbol] = base::now_ns();
        std::erase(symbols_due, symbol);
    }
}

template <class Value>
void SymbolExchange::repair(const std::vector<Repair>& repairs, BlockOf<Value>& mine)
{
    const int me = exchanges_.rank();
    const auto exchange = [&](Transport& transport) {
        Mailbox& mailbox = transport.mailbox();
        const int tag = next_tag();
        for (const Repair& one : repairs)
            for (const Term& term : one.terms)
                if (term.rank == me) mailbox.send(one.rank, tag, bytes_of(std::as_const(mine)));
        for (const Repair& one : repairs) {
            if (one.rank != me) continue;
            std::vector<BlockOf<Value>> blocks(one.terms.size(), mine);
            std::vector<Mailbox::Ticket> due;
            std::vector<double> coefficients;
            std::vector<const Value*> from;
            for (std::size_t i = 0; i < blocks.size(); ++i) {
                due.push_back(i);
                mailbox.post_receive(i, one.terms[i].rank, tag, bytes_of(blocks[i]));
                coefficients.push_back(one.terms[i].coefficient);
                from.push_back(blocks[i].data());
            }
            while (!due.empty()) std::erase(due, mailbox.wait_any(due).value());
            weighted_sum(coefficients, from, values_of(mine));
        }
    };
    exchanges_.post(exchange).get();
}

int SymbolExchange::next_tag()
{
    return static_cast<int>(exchanges_made_++ % Mailbox::tag_of_news);
}

template Symbols<float> SymbolExchange::gather(const SymbolRoutes&, const BlockOf<float>&);
template Symbols<double> SymbolExchange::gather(const SymbolRoutes&, const BlockOf<double>&);
template void SymbolExchange::repair(const std::vector<Repair>&, BlockOf<float>&);
template void SymbolExchange::repair(const std::vector<Repair>&, BlockOf<double>&);

}  // namespace ddl
