// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/coded_products.hpp"

#include "base/contract/trace_names.hpp"
#include "base/system/clock.hpp"
#include "base/words.hpp"
#include "soft-errors/state/checksums.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <utility>

namespace ddl {

CodedProducts::CodedProducts(CodedPlan plan, Direction forward, Direction backward, std::vector<std::string> layers,
                             Model& model, ExchangeThread& exchanges, Instruments& instruments)
    : plan_{std::move(plan)},
      model_{model},
      exchanges_{exchanges},
      instruments_{instruments},
      encode_region_{.region = instruments.recorder().region(base::region::code_encode)},
      product_region_{.region = instruments.recorder().region(base::region::code_product)},
      decode_region_{.region = instruments.recorder().region(base::region::code_decode)},
      regenerate_region_{.region = instruments.recorder().region(base::region::code_regenerate)},
      probe_region_{.region = instruments.recorder().region(base::region::code_probe)},
      forward_{std::move(forward)},
      backward_{std::move(backward)},
      layers_{std::move(layers)},
      symbols_{exchanges},
      open_{OpenProducts<float>{exchanges, symbols_}, OpenProducts<double>{exchanges, symbols_}},
      errors_{plan_.errors, exchanges.rank()},
      log_{plan_.directory, exchanges.rank()}
{
    forward_.thresholds.assign(layers_.size(), Threshold{plan_.threshold, plan_.precision, plan_.late.has_value()});
    backward_.thresholds = forward_.thresholds;
}

void CodedProducts::begin()
{
    begun_ = true;
    log_.begin(exchanges_);
    if (exchanges_.rank() == 0) product_log_.emplace(plan_.directory);
}

template <class Value>
void CodedProducts::strike(std::size_t layer, ErrorSite site, BlockOf<Value>& block)
{
    if (const std::optional<double> size = errors_.strike(site, block))
        log_.injected(step(), layers_[layer], text(site), *size, largest_of(block));
}

template <class Value>
void CodedProducts::alter(const std::string& site, std::size_t layer, std::span<Value> numbers)
{
    if (!alter_ || failed_) return;
    const StateTensor tensor{.path = site + "/" + layers_[layer],
                             .type = element_type_of<Value>,
                             .shape = {std::ssize(numbers)},
                             .bytes = std::as_writable_bytes(numbers)};
    if (const std::optional<double> size = alter_(tensor))
        log_.injected(step(), layers_[layer], site, *size, largest_of(std::span<const Value>{numbers}));
}

void CodedProducts::altered(const StateTensor& tensor, double size)
{
    const auto largest = [&tensor]<class Value>(Value) {
        return largest_of(
            std::span{reinterpret_cast<const Value*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(Value)});
    };
    const double of = tensor.type == ElementType::float64 ? largest(double{}) : largest(float{});
    const bool is_block = tensor.path.starts_with(strategy_state);
    const std::string name = tensor.path.substr(tensor.path.find('/') + 1);  // of a block: such as weight/LAYER
    log_.injected(step(), is_block ? name.substr(name.find('/') + 1) : name, is_block ? "code" : "replica", size, of);
}

void CodedProducts::computed_alike(std::span<const float> numbers)
{
    if (plan_.late) return;  // ranks differ by rounding
    const CodeScope scope{instruments_.main(), decode_region_};
    const std::array<std::uint32_t, 2> both{alike_, soft_errors::crc32c(std::as_bytes(numbers))};
    alike_ = soft_errors::crc32c(std::as_bytes(std::span{both}));
}

template <class Value>
std::vector<BlockOf<Value>> CodedProducts::product(Direction& direction, std::size_t layer,
                                                   const Multiply<Value>& multiply, Eigen::Index rows,
                                                   Eigen::Index columns)
{
    if (failed_) {
        const BlockOf<Value> zeros = BlockOf<Value>::Zero(rows, columns);
        return std::vector(direction.wanted.size(), zeros);
    }
    base::code::ProductRow row{.step = step(),
                               .layer = layers_[layer],
                               .pass = text(direction.site),
                               .begin_ns = base::now_ns(),
                               .symbols = direction.decoder.symbols()};
    // All ranks calibrate thresholds with all symbols, so that they have the same.
    if (plan_.late && direction.thresholds[layer].is_final())
        return decoded_early(direction, layer, multiply, rows, columns, std::move(row));
    return decoded_whole(direction, layer, multiply, std::move(row));
}

// Waits for all symbols.
template <class Value>
std::vector<BlockOf<Value>> CodedProducts::decoded_whole(Direction& direction, std::size_t layer,
                                                         const Multiply<Value>& multiply, base::code::ProductRow row)
{
    settle();
    const BlockOf<Value> term = multiply(direction.routes.mine.has_value());
    const std::int64_t multiplied_ns = base::now_ns();
    instruments_.clock().enter(Phase::wait_exchange, multiplied_ns);
    Symbols<Value> symbols = symbols_.gather(direction.routes, term);
    const std::int64_t arrived_ns = base::now_ns();
    instruments_.clock().enter(direction.site == ErrorSite::forward ? Phase::forward : Phase::backward, arrived_ns);

    std::vector<BlockOf<Value>> parts = parts_of(direction, layer, symbols, row);
    for (const BlockOf<Value>& part : parts) direction.thresholds[layer].add_size(largest_of(part));
    row.end_ns = base::now_ns();
    row.product_ns = multiplied_ns - row.begin_ns;
    row.wait_ns = arrived_ns - multiplied_ns;
    row.decode_ns = row.end_ns - arrived_ns;
    if (product_log_)
        product_log_->add(std::move(row), direction.decoder, direction.routes,
                          {.ended_ns = symbols.arrived_ns, .came = std::vector<bool>(symbols.arrived_ns.size(), true)});
    return parts;
}

template <class Value>
std::vector<BlockOf<Value>> CodedProducts::parts_of(Direction& direction, std::size_t layer, Symbols<Value>& symbols,
                                                    base::code::ProductRow& row)
{
    const CodeScope scope{instruments_.main(), decode_region_};
    row.used = direction.decoder.symbols();
    if (direction.plain) return std::move(symbols.blocks);
    const Eigen::Index rows = symbols.blocks.front().rows() / direction.decoder.rows_per_symbol();
    std::vector<BlockOf<Value>> parts;
    while (parts.size() < direction.wanted.size()) parts.emplace_back(rows, symbols.blocks.front().cols());
    std::vector<const Value*> from;
    for (const BlockOf<Value>& symbol : symbols.blocks) from.push_back(symbol.data());
    Threshold& threshold = direction.thresholds[layer];
    const Decoded result = decode<Value>(direction, from, threshold.value(), parts);
    row.used = result.used;
    row.residual = result.residual;
    detected_.add(result.wrong.size());
    if (!result.possible) {
        failed_ = true;
        for (BlockOf<Value>& part : parts) part.setZero();
    } else if (result.wrong.empty()) {
        threshold.add(result.residual);
    } else {
        regenerate(direction, layer, result.wrong);
    }
    return parts;
}

template <class Value>
Decoded CodedProducts::decode(Direction& direction, std::span<const Value* const> symbols, double threshold,
                              std::vector<BlockOf<Value>>& parts, double least_size)
{
    const auto length = static_cast<std::size_t>(parts.front().size());
    std::vector<const Value*> from;
    for (const Value* symbol : symbols)
        for (int row = 0; row < direction.decoder.rows_per_symbol(); ++row)
            from.push_back(symbol == nullptr ? nullptr : symbol + static_cast<std::size_t>(row) * length);
    std::vector<Value*> to(static_cast<std::size_t>(direction.decoder.parts()), nullptr);
    for (std::size_t i = 0; i < parts.size(); ++i) to[static_cast<std::size_t>(direction.wanted[i])] = parts[i].data();
    return direction.decoder.decode(from, length, threshold, to, least_size);
}

void CodedProducts::end_regeneration(const Direction& direction, std::size_t layer, std::optional<double> change,
                                     double size)
{
    const double least = direction.thresholds[layer].value() * size;
    const bool was_wrong = change && log_.regenerated(step(), layers_[layer], direction.site, *change, least);
    const std::byte mine{was_wrong ? std::uint8_t{1} : std::uint8_t{0}};
    std::vector<std::byte> all(static_cast<std::size_t>(exchanges_.size()));
    exchanges_.all_gather(std::span{&mine, 1}, all).get();
    if (exchanges_.rank() == 0 && std::ranges::find(all, std::byte{1}) == all.end())
        log_.false_alarm(step(), layers_[layer], direction.site);
}

// Finds the errors that no product has used yet. A repaired block is checked again.
bool CodedProducts::verify()
{
    constexpr int most_rounds = 3;
    if (!begun_ || failed_) return !failed_;
    if (!meet()) {
        failed_ = true;
        return false;
    }
    const CodeScope scope{instruments_.main(), probe_region_};
    for (int round = 0; round < most_rounds && !failed_; ++round) {
        const std::uint64_t detected = detected_.value();
        for (std::size_t layer = 0; layer < layers_.size(); ++layer)
            for (Direction* const direction : {&forward_, &backward_})
                if (!failed_ && direction->checks()) probe(*direction, layer);
        verified_ = !failed_ && detected_.value() == detected;
        if (verified_) return true;
    }
    failed_ = true;
    return false;
}

void CodedProducts::rolled_back()
{
    log_.rolled_back(step());
    forget_alike();  // of the abandoned steps
    failed_ = false;
}

void CodedProducts::finish()
{
    if (product_log_) product_log_->settled();
    add_cpu_times();
    if (exchanges_.rank() == 0) print_thresholds();
    log_.finish([this](const std::string& name) {
        const auto layer = static_cast<std::size_t>(std::ranges::find(layers_, name) - layers_.begin());
        return forward_.decoder.smallest_detectable(forward_.thresholds[layer].value());
    });
}

void CodedProducts::add_cpu_times()
{
    const std::vector<std::pair<const char*, std::int64_t>> regions{{"encode", encode_region_.cpu_ns},
                                                                    {"product", product_region_.cpu_ns},
                                                                    {"decode", decode_region_.cpu_ns},
                                                                    {"regenerate", regenerate_region_.cpu_ns},
                                                                    {"probe", probe_region_.cpu_ns}};
    for (const auto& [name, mine] : regions) {
        std::vector<std::int64_t> all(static_cast<std::size_t>(exchanges_.size()));
        exchanges_.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(std::span{all})).get();
        cpu_ms_[name] = static_cast<double>(std::reduce(all.begin(), all.end())) / 1e6;
    }
}

void CodedProducts::print_thresholds() const
{
    for (std::size_t i = 0; i < layers_.size(); ++i)
        for (const Direction* direction : {&forward_, &backward_}) {
            if (!direction->checks()) continue;
            const Threshold& threshold = direction->thresholds[i];
            std::fprintf(stderr, "ddl-train: %s, %s: noise floor %.1e, smallest detectable error %.1e (relative)%s\n",
                         layers_[i].c_str(), text(direction->site).c_str(), threshold.noise_floor(),
                         direction->decoder.smallest_detectable(threshold.value()),
                         threshold.left_out() == 0
                             ? ""
                             : base::join("; without ", threshold.left_out(), " of the first products").c_str());
        }
}

nlohmann::ordered_json CodedProducts::describe() const
{
    nlohmann::ordered_json json{{"ranks", exchanges_.size()},
                                {"wrong_symbols", detected_.value()},
                                {"regenerated_blocks", regenerated_.value()}};
    json["refreshes"] = refreshes_;
    json["drift"] = drift_;
    json["cpu_ms"] = cpu_ms_;
    json["layers"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        nlohmann::ordered_json layer{{"name", layers_[i]}};
        for (const Direction* direction : {&forward_, &backward_}) {
            if (!direction->checks()) continue;
            const Threshold& threshold = direction->thresholds[i];
            layer[text(direction->site)] = {
                {"noise_floor", threshold.noise_floor()},
                {"left_out", threshold.left_out()},
                {"threshold", threshold.value()},
                {"smallest_detectable", direction->decoder.smallest_detectable(threshold.value())}};
        }
        json["layers"].push_back(std::move(layer));
    }
    return json;
}

#define CODED_PRODUCTS_OF(Value)                                                                                 \
    template void CodedProducts::strike(std::size_t, ErrorSite, BlockOf<Value>&);                                \
    template void CodedProducts::alter(const std::string&, std::size_t, std::span<Value>);                       \
    template std::vector<BlockOf<Value>> CodedProducts::product(Direction&, std::size_t, const Multiply<Value>&, \
                                                                Eigen::Index, Eigen::Index);                     \
    template std::vector<BlockOf<Value>> CodedProducts::parts_of(Direction&, std::size_t, Symbols<Value>&,       \
                                                                 base::code::ProductRow&);                       \
    template Decoded CodedProducts::decode(Direction&, std::span<const Value* const>, double,                    \
                                           std::vector<BlockOf<Value>>&, double);
CODED_PRODUCTS_OF(float)
CODED_PRODUCTS_OF(double)
#undef CODED_PRODUCTS_OF

}  // namespace ddl
