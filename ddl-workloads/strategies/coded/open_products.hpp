// SPDX-License-Identifier: Apache-2.0
// Products whose symbols are still arriving (late=skip): a rank uses those that have arrived and continues, and the
// messages of the others are handled whenever they come. A rank may give up its term of a product; its symbol then
// never comes, and all ranks are sent a message that says so.
#pragma once

#include "ddl-workloads/strategies/coded/symbol_exchange.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <vector>

namespace ddl {

template <class Value>
class OpenProducts;

// A product's symbols at one rank.
template <class Value>
struct Arrived {
    std::vector<const Value*> symbols{};  // null: not arrived
    std::vector<bool> is_there{};         // by symbol, whether it has arrived
    bool all = false;                     // the others will not come
};

// The times at which a product's symbols arrived. Written by the transport thread.
class OpenProduct {
 public:
    // True once nothing of the product is under way to or from this rank; then the times at which each symbol arrived,
    // or was known not to come.
    bool is_complete() const { return is_complete_; }
    const std::vector<std::int64_t>& ended_ns() const { return ended_ns_; }
    const std::vector<bool>& came() const { return came_; }

 private:
    template <class>
    friend class OpenProducts;

    const SymbolRoutes* routes_ = nullptr;
    int tag_of_terms_ = 0;
    int tag_of_symbols_ = 0;
    std::size_t terms_due_ = 0;  // this rank's own included
    std::size_t symbols_due_ = 0;
    std::vector<std::int64_t> ended_ns_{};
    std::vector<bool> came_{};
    bool is_decoded_ = false;  // this rank needs no values any more
    std::atomic<bool> is_complete_ = false;
};

template <class Value>
class OpenProductOf : public OpenProduct {
 public:
    // As of the last call of OpenProducts::open() or wait(). The values stay valid until the next open() or settle().
    const Arrived<Value>& arrived() const { return arrived_; }

 private:
    friend class OpenProducts<Value>;

    std::vector<std::vector<Value>> symbols_{};  // messages, by symbol
    std::vector<std::vector<Value>> terms_{};    // of this rank's symbol, which it adds; by rank of the symbol
    Arrived<Value> arrived_{};
};

template <class Value>
class OpenProducts {
 public:
    using Product = OpenProductOf<Value>;

    OpenProducts(ExchangeThread& exchanges, SymbolExchange& symbols) : exchanges_{exchanges}, symbols_{symbols} {}

    // Collective, without waiting: the next product, with symbols of `length` values. The product before it is decoded.
    // The routes must outlive the product.
    std::shared_ptr<Product> open(const SymbolRoutes& routes, std::size_t length);

    // Gives this rank's term, or gives it up. Once, on each rank that has a term. They do not wait.
    void give(const std::shared_ptr<Product>& product, const BlockOf<Value>& term);
    void give_up(const std::shared_ptr<Product>& product);

    // Waits until the symbols that have arrived are enough, or all have come that will.
    void wait(Product& product, const std::function<bool(const Arrived<Value>&)>& is_enough);

    // Waits until all products are complete.
    void settle();

 private:
    void give(const std::shared_ptr<Product>& product, std::vector<Value> message);
    void expect(Mailbox& mailbox, const std::shared_ptr<Product>& product);
    void term_came(Mailbox& mailbox, Product& product, std::size_t term);
    void announce(Mailbox& mailbox, Product& product, std::vector<Value> message);
    void symbol_came(Product& product, std::size_t symbol);
    void end_if_complete(Product& product);
    static void look(Product& product);
    void close_newest();

    ExchangeThread& exchanges_;
    SymbolExchange& symbols_;
    std::future<void> given_;
    std::shared_ptr<Product> newest_;  // used by the transport thread only, as the next member
    std::int64_t open_ = 0;            // products that are not complete
};

}  // namespace ddl
