// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/open_products.hpp"

#include "base/system/clock.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace ddl {

namespace {

// A message is this word and the values, or only the other word.
template <class Value>
constexpr Value values_follow = 1;
template <class Value>
constexpr Value will_not_come = 0;

template <class Value>
std::span<std::byte> written(std::vector<Value>& message)
{
    return std::as_writable_bytes(std::span{message});
}

template <class Value>
std::span<const std::byte> read(const std::vector<Value>& message)
{
    return std::as_bytes(std::span{message});
}

template <class Value>
bool has_values(const std::vector<Value>& message)
{
    return message.front() == values_follow<Value>;
}

}  // namespace

template <class Value>
auto OpenProducts<Value>::open(const SymbolRoutes& routes, std::size_t length) -> std::shared_ptr<Product>
{
    auto product = std::make_shared<Product>();
    product->routes_ = &routes;
    product->tag_of_terms_ = symbols_.next_tag();
    product->tag_of_symbols_ = symbols_.next_tag();
    product->symbols_.resize(routes.ranks.size(), std::vector<Value>(1 + length));
    product->symbols_due_ = routes.ranks.size();
    product->ended_ns_.resize(routes.ranks.size());
    product->came_.resize(routes.ranks.size());
    if (routes.mine && routes.ranks[static_cast<std::size_t>(*routes.mine)].front() == exchanges_.rank()) {
        product->terms_due_ = routes.ranks[static_cast<std::size_t>(*routes.mine)].size();
        product->terms_.resize(product->terms_due_, std::vector<Value>(1 + length));
    }
    const auto begin = [&](Transport& transport) {
        close_newest();
        newest_ = product;
        ++open_;
        expect(transport.mailbox(), product);
        exchanges_.arrivals().handle_arrived(transport.mailbox());
        look(*product);
    };
    exchanges_.post(begin).get();
    return product;
}

template <class Value>
void OpenProducts<Value>::expect(Mailbox& mailbox, const std::shared_ptr<Product>& product)
{
    Arrivals& arrivals = exchanges_.arrivals();
    const SymbolRoutes& routes = *product->routes_;
    for (std::size_t symbol = 0; symbol < routes.ranks.size(); ++symbol) {
        const int from = routes.ranks[symbol].front();
        if (from == exchanges_.rank()) continue;
        arrivals.expect(mailbox, from, product->tag_of_symbols_, written(product->symbols_[symbol]),
                        [this, product, symbol] { symbol_came(*product, symbol); });
    }
    for (std::size_t term = 1; term < product->terms_.size(); ++term)
        arrivals.expect(mailbox, routes.ranks[static_cast<std::size_t>(*routes.mine)][term], product->tag_of_terms_,
                        written(product->terms_[term]),
                        [this, &mailbox, product, term] { term_came(mailbox, *product, term); });
}

template <class Value>
void OpenProducts<Value>::give(const std::shared_ptr<Product>& product, const BlockOf<Value>& term)
{
    std::vector<Value> message{values_follow<Value>};
    message.insert(message.end(), term.data(), term.data() + term.size());
    give(product, std::move(message));
}

template <class Value>
void OpenProducts<Value>::give_up(const std::shared_ptr<Product>& product)
{
    give(product, std::vector<Value>{will_not_come<Value>});
}

template <class Value>
void OpenProducts<Value>::give(const std::shared_ptr<Product>& product, std::vector<Value> message)
{
    if (given_.valid()) given_.get();
    given_ = exchanges_.post([this, product, message = std::move(message)](Transport& transport) {
        const SymbolRoutes& routes = *product->routes_;
        const int root = routes.ranks[static_cast<std::size_t>(*routes.mine)].front();
        if (root != exchanges_.rank()) return transport.mailbox().send(root, product->tag_of_terms_, read(message));
        product->terms_.front() = message;
        term_came(transport.mailbox(), *product, 0);
    });
}

// The terms are added in one order, whichever came first.
template <class Value>
void OpenProducts<Value>::term_came(Mailbox& mailbox, Product& product, std::size_t term)
{
    --product.terms_due_;
    const auto mine = static_cast<std::size_t>(*product.routes_->mine);
    const bool is_announced = product.ended_ns_[mine] != 0;
    if (!is_announced && !has_values(product.terms_[term])) announce(mailbox, product, {will_not_come<Value>});
    if (!is_announced && has_values(product.terms_[term]) && product.terms_due_ == 0) {
        std::vector<Value> sum = product.terms_.front();
        for (std::size_t one = 1; one < product.terms_.size(); ++one)
            for (std::size_t i = 1; i < sum.size(); ++i) sum[i] += product.terms_[one][i];
        announce(mailbox, product, std::move(sum));
    }
    end_if_complete(product);
}

// Sends this rank's symbol to all ranks.
template <class Value>
void OpenProducts<Value>::announce(Mailbox& mailbox, Product& product, std::vector<Value> message)
{
    for (int to = 0; to < exchanges_.size(); ++to)
        if (to != exchanges_.rank()) mailbox.send(to, product.tag_of_symbols_, read(message));
    const auto mine = static_cast<std::size_t>(*product.routes_->mine);
    product.symbols_[mine] = std::move(message);
    symbol_came(product, mine);
}

template <class Value>
void OpenProducts<Value>::symbol_came(Product& product, std::size_t symbol)
{
    product.ended_ns_[symbol] = base::now_ns();
    product.came_[symbol] = has_values(product.symbols_[symbol]);
    if (product.is_decoded_) product.symbols_[symbol] = {};
    --product.symbols_due_;
    end_if_complete(product);
}

template <class Value>
void OpenProducts<Value>::end_if_complete(Product& product)
{
    if (product.is_complete_ || product.symbols_due_ > 0 || product.terms_due_ > 0) return;
    product.is_complete_ = true;
    --open_;
}

template <class Value>
void OpenProducts<Value>::look(Product& product)
{
    Arrived<Value>& arrived = product.arrived_;
    arrived.symbols.assign(product.symbols_.size(), nullptr);
    for (std::size_t symbol = 0; symbol < product.symbols_.size(); ++symbol)
        if (product.came_[symbol]) arrived.symbols[symbol] = product.symbols_[symbol].data() + 1;
    arrived.is_there = product.came_;
    arrived.all = product.symbols_due_ == 0;
}

template <class Value>
void OpenProducts<Value>::wait(Product& product, const std::function<bool(const Arrived<Value>&)>& is_enough)
{
    const auto until_enough = [&](Transport& transport) {
        exchanges_.arrivals().handle_until(transport.mailbox(), [&] {
            look(product);
            return product.arrived_.all || is_enough(product.arrived_);
        });
    };
    exchanges_.post(until_enough).get();
}

template <class Value>
void OpenProducts<Value>::settle()
{
    const auto until_complete = [this](Transport& transport) {
        close_newest();
        exchanges_.arrivals().handle_until(transport.mailbox(), [this] { return open_ == 0; });
    };
    exchanges_.post(until_complete).get();
}

// The values of symbols that arrived are used no more; the memory of those that are due must stay.
template <class Value>
void OpenProducts<Value>::close_newest()
{
    if (newest_ == nullptr) return;
    newest_->is_decoded_ = true;
    for (std::size_t symbol = 0; symbol < newest_->symbols_.size(); ++symbol)
        if (newest_->ended_ns_[symbol] != 0) newest_->symbols_[symbol] = {};
    newest_ = nullptr;
}

template class OpenProducts<float>;
template class OpenProducts<double>;

}  // namespace ddl
