// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/coded_products.hpp"

#include "base/contract/trace_names.hpp"
#include "base/system/waiting.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace ddl {

namespace {

// Time from when the symbols that had arrived were enough until the last one arrived.
std::int64_t saved_ns(const SymbolDecoder& decoder, const std::vector<std::int64_t>& arrived_ns)
{
    std::vector<std::int64_t> times = arrived_ns;
    std::ranges::sort(times);
    for (const std::int64_t time : times) {
        std::vector<bool> arrived;
        for (const std::int64_t one : arrived_ns) arrived.push_back(one <= time);
        if (decoder.enough(arrived)) return times.back() - time;
    }
    return 0;
}

}  // namespace

CodedProducts::CodedProducts(CodedPlan plan, DenseModel& model, ExchangeThread& exchanges, Instruments& instruments)
    : plan_{std::move(plan)},
      model_{model},
      exchanges_{exchanges},
      instruments_{instruments},
      encode_region_{instruments.recorder().region(base::region::code_encode)},
      product_region_{instruments.recorder().region(base::region::code_product)},
      decode_region_{instruments.recorder().region(base::region::code_decode)},
      regenerate_region_{instruments.recorder().region(base::region::code_regenerate)},
      probe_region_{instruments.recorder().region(base::region::code_probe)},
      forward_{.site = ErrorSite::forward, .decoder = SymbolDecoder{plan_.code.rows}},
      backward_{.site = ErrorSite::backward, .decoder = SymbolDecoder{plan_.code.columns}},
      symbols_{exchanges},
      errors_{plan_.errors, exchanges.rank()},
      log_{plan_.directory, exchanges.rank()}
{
    const LayerCode& code = plan_.code;
    for (int i = 0; i < code.rows.rows(); ++i) forward_.routes.ranks.push_back(forward_ranks(code, i));
    for (int j = 0; j < code.columns.rows(); ++j) backward_.routes.ranks.push_back(backward_ranks(code, j));
    const Place& place = code.places.at(static_cast<std::size_t>(exchanges.rank()));
    if (place.input) forward_.routes.mine = place.row;
    if (place.output) backward_.routes.mine = place.column;
    for (const DenseLayer& layer : model.dense_layers())
        layers_.push_back({.name = layer.name, .coded = CodedLayer{plan_.code, exchanges.rank(), layer}});
    forward_.thresholds.assign(layers_.size(), Threshold{plan_.threshold});
    backward_.thresholds = forward_.thresholds;
    encode();
}

void CodedProducts::begin()
{
    begun_ = true;
    log_.begin(exchanges_);
    if (exchanges_.rank() == 0)
        product_rows_.emplace(plan_.directory / base::code::products_table,
                              base::names_of(base::code::product_columns()));
}

void CodedProducts::encode()
{
    const otf2::Scope scope{instruments_.main(), encode_region_};
    const std::vector<DenseLayer> whole = model_.dense_layers();
    for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i].coded.encode(whole[i].weights, whole[i].momentum);
}

void CodedProducts::strike(Layer& layer, ErrorSite site)
{
    if (const std::optional<double> size = errors_.strike(site, layer.coded.weights()))
        log_.injected(static_cast<std::int64_t>(instruments_.clock().step()), layer.name, site, *size);
}

void CodedProducts::forward(std::size_t layer, std::span<const float> x, std::span<float> y)
{
    CodedLayer& coded = layers_[layer].coded;
    base::code::ProductRow row{.layer = layers_[layer].name, .begin_ns = base::now_ns()};
    Block term{coded.samples(x), coded.block_rows()};
    if (forward_.routes.mine && !failed_) {
        const otf2::Scope scope{instruments_.main(), product_region_};
        strike(layers_[layer], ErrorSite::forward);
        term = coded.forward(x);
        base::sleep_through(row.begin_ns + coded.product_ns());
    }
    const std::vector<Block> parts = decoded(forward_, layer, term, std::move(row));
    for (std::size_t i = 0; i < parts.size(); ++i) coded.put_output(static_cast<int>(i), parts[i], y);
}

void CodedProducts::backward(std::size_t layer, std::span<const float> x, std::span<const float> dy,
                             std::span<float> dx)
{
    CodedLayer& coded = layers_[layer].coded;
    base::code::ProductRow row{.layer = layers_[layer].name, .begin_ns = base::now_ns()};
    Block term{coded.samples(x), coded.block_columns()};
    if (!failed_) {
        const otf2::Scope scope{instruments_.main(), product_region_};
        if (backward_.routes.mine && !dx.empty()) {
            strike(layers_[layer], ErrorSite::backward);
            term = coded.backward(dy);
        }
        if (!plan_.reencode) coded.add_gradient(x, dy);
    }
    if (dx.empty()) return;
    const std::vector<Block> parts = decoded(backward_, layer, term, std::move(row));
    for (std::size_t j = 0; j < parts.size(); ++j) coded.put_input(static_cast<int>(j), parts[j], dx);
}

// The parts of a product, of which `term` is this rank's term.
std::vector<Block> CodedProducts::decoded(Direction& direction, std::size_t layer, const Block& term,
                                          base::code::ProductRow row)
{
    if (failed_)
        return std::vector<Block>(static_cast<std::size_t>(direction.decoder.parts()),
                                  Block::Zero(term.rows(), term.cols()));
    const std::int64_t multiplied_ns = base::now_ns();
    instruments_.clock().enter(Phase::wait_exchange, multiplied_ns);
    Symbols symbols = symbols_.gather(direction.routes, term);
    const std::int64_t arrived_ns = base::now_ns();
    instruments_.clock().enter(direction.site == ErrorSite::forward ? Phase::forward : Phase::backward, arrived_ns);

    std::vector<Block> parts = parts_of(direction, layer, symbols, row);
    row.step = static_cast<std::int64_t>(instruments_.clock().step());
    row.pass = text(direction.site);
    row.end_ns = base::now_ns();
    row.product_ns = multiplied_ns - row.begin_ns;
    row.wait_ns = arrived_ns - multiplied_ns;
    row.decode_ns = row.end_ns - arrived_ns;
    row.symbols = static_cast<int>(symbols.arrived_ns.size());
    const auto last = std::ranges::max_element(symbols.arrived_ns) - symbols.arrived_ns.begin();
    row.last_rank = direction.routes.ranks[static_cast<std::size_t>(last)].front();
    row.saved_ns = saved_ns(direction.decoder, symbols.arrived_ns);
    if (product_rows_) product_rows_->write(base::cells_of(base::code::product_columns(), row));
    return parts;
}

std::vector<Block> CodedProducts::parts_of(Direction& direction, std::size_t layer, Symbols& symbols,
                                           base::code::ProductRow& row)
{
    const otf2::Scope scope{instruments_.main(), decode_region_};
    row.used = direction.decoder.symbols();
    if (!direction.checks()) return std::move(symbols.blocks);
    const Block& first = symbols.blocks.front();
    std::vector<Block> parts(static_cast<std::size_t>(direction.decoder.parts()),
                             Block::Zero(first.rows(), first.cols()));
    std::vector<const float*> from;
    for (const Block& symbol : symbols.blocks) from.push_back(symbol.data());
    std::vector<float*> to;
    for (Block& part : parts) to.push_back(part.data());
    Threshold& threshold = direction.thresholds[layer];
    const Decoded result =
        direction.decoder.decode(from, static_cast<std::size_t>(first.size()), threshold.value(), to);
    row.used = result.used;
    row.residual = result.residual;
    detected_.add(result.wrong.size());
    if (!result.possible)
        failed_ = true;
    else if (result.wrong.empty())
        threshold.add(result.residual);
    else
        regenerate(direction, layers_[layer], result.wrong);
    return parts;
}

// Collective: replaces the blocks behind wrong symbols.
void CodedProducts::regenerate(const Direction& direction, Layer& layer, const std::vector<int>& wrong)
{
    const otf2::Scope scope{instruments_.main(), regenerate_region_};
    std::vector<int> suspects;
    for (const int symbol : wrong)
        for (const int rank : direction.routes.ranks[static_cast<std::size_t>(symbol)]) suspects.push_back(rank);
    std::vector<bool> healthy(static_cast<std::size_t>(plan_.code.ranks()), true);
    for (const int rank : suspects) healthy[static_cast<std::size_t>(rank)] = false;
    std::vector<Repair> repairs;
    for (const int rank : suspects) {
        repairs.push_back({.rank = rank, .terms = regeneration(plan_.code, rank, healthy)});
        if (repairs.back().terms.empty()) failed_ = true;
    }
    if (failed_) return;
    const Block before = layer.coded.weights();
    symbols_.repair(repairs, layer.coded.weights());
    if (layer.coded.momentum().size() > 0) symbols_.repair(repairs, layer.coded.momentum());
    regenerated_.add(repairs.size());

    const bool suspected = std::ranges::find(suspects, exchanges_.rank()) != suspects.end();
    const bool was_wrong = suspected && log_regenerated(direction, layer, before);
    const std::byte mine{was_wrong ? std::uint8_t{1} : std::uint8_t{0}};
    std::vector<std::byte> all(static_cast<std::size_t>(exchanges_.size()));
    exchanges_.all_gather(std::span{&mine, 1}, all).get();
    if (exchanges_.rank() == 0 && std::ranges::find(all, std::byte{1}) == all.end())
        log_.false_alarm(static_cast<std::int64_t>(instruments_.clock().step()), layer.name, direction.site);
}

// Returns false if this rank's block was right before it was regenerated.
bool CodedProducts::log_regenerated(const Direction& direction, const Layer& layer, const Block& before)
{
    const auto step = static_cast<std::int64_t>(instruments_.clock().step());
    if (log_.end(layer.name, step, "regenerated")) return true;
    const Block& after = layer.coded.weights();
    const double change = static_cast<double>((after - before).cwiseAbs().maxCoeff());
    const auto index = static_cast<std::size_t>(&layer - layers_.data());
    if (change <= direction.thresholds[index].value() * static_cast<double>(after.cwiseAbs().maxCoeff())) return false;
    log_.unknown(step, layer.name, direction.site, change);
    return true;
}

// Multiplies all blocks with ones, which finds the errors that no product has used yet. A repaired block is checked
// again.
bool CodedProducts::verify()
{
    constexpr int most_rounds = 3;
    if (!begun_ || failed_) return !failed_;
    const otf2::Scope scope{instruments_.main(), probe_region_};
    for (int round = 0; round < most_rounds && !failed_; ++round) {
        const std::uint64_t detected = detected_.value();
        for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
            probe(forward_, layer);
            probe(backward_, layer);
        }
        verified_ = !failed_ && detected_.value() == detected;
        if (verified_) return true;
    }
    failed_ = true;
    return false;
}

void CodedProducts::probe(Direction& direction, std::size_t layer)
{
    if (failed_ || !direction.checks()) return;
    const CodedLayer& coded = layers_[layer].coded;
    const bool is_forward = direction.site == ErrorSite::forward;
    const std::vector<float> ones(static_cast<std::size_t>(is_forward ? coded.inputs() : coded.outputs()), 1.0F);
    Block term{1, is_forward ? coded.block_rows() : coded.block_columns()};
    if (direction.routes.mine) term = is_forward ? coded.forward(ones) : coded.backward(ones);
    Symbols symbols = symbols_.gather(direction.routes, term);
    base::code::ProductRow row;
    parts_of(direction, layer, symbols, row);
}

void CodedProducts::update()
{
    if (plan_.reencode) encode();
    for (Layer& layer : layers_) {
        if (!plan_.reencode) layer.coded.update(plan_.optimizer);
        strike(layer, ErrorSite::update);
    }
}

std::vector<StateTensor> CodedProducts::state()
{
    std::vector<StateTensor> all;
    const auto add = [&](const std::string& path, Block& block) {
        all.push_back({.path = path,
                       .type = ElementType::float32,
                       .shape = {block.rows(), block.cols()},
                       .bytes = std::as_writable_bytes(std::span{block.data(), static_cast<std::size_t>(block.size())}),
                       .owner = Owner::each});
    };
    for (Layer& layer : layers_) {
        add(std::string{strategy_state} + "weight/" + layer.name, layer.coded.weights());
        if (layer.coded.momentum().size() > 0)
            add(std::string{strategy_state} + "momentum/" + layer.name, layer.coded.momentum());
    }
    return all;
}

void CodedProducts::restored()
{
    for (Layer& layer : layers_) layer.coded.drop_gradient();
}

void CodedProducts::rolled_back()
{
    log_.end_all(static_cast<std::int64_t>(instruments_.clock().step()), "rolled_back");
    failed_ = false;
}

void CodedProducts::complete()
{
    if (!begun_ || plan_.reencode) return;
    const std::vector<DenseLayer> whole = model_.dense_layers();
    const auto gather = [&](const CodedLayer& layer, const Block& mine, std::span<float> all) {
        const auto size = static_cast<std::size_t>(mine.size());
        std::vector<float> blocks(size * static_cast<std::size_t>(exchanges_.size()));
        exchanges_.all_gather(std::as_bytes(std::span{mine.data(), size}), std::as_writable_bytes(std::span{blocks}))
            .get();
        for (int i = 0; i < plan_.code.grid.rows; ++i)
            for (int j = 0; j < plan_.code.grid.columns; ++j) {
                const auto rank = static_cast<std::size_t>(rank_of_block(i, j));
                layer.put_block(i, j, std::span{blocks}.subspan(rank * size, size), all);
            }
    };
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        CodedLayer& layer = layers_[i].coded;
        gather(layer, layer.weights(), whole[i].weights);
        if (!whole[i].momentum.empty()) gather(layer, layer.momentum(), whole[i].momentum);
    }
}

int CodedProducts::rank_of_block(int i, int j) const
{
    const auto is_there = [&](const Place& place) { return place.row == i && place.column == j; };
    return static_cast<int>(std::ranges::find_if(plan_.code.places, is_there) - plan_.code.places.begin());
}

void CodedProducts::finish()
{
    if (exchanges_.rank() == 0) print_thresholds();
    log_.finish([this](const std::string& name) {
        const auto layer = std::ranges::find(layers_, name, &Layer::name);
        const auto i = static_cast<std::size_t>(layer - layers_.begin());
        const double smallest = forward_.decoder.smallest_detectable(forward_.thresholds[i].value());
        return smallest * static_cast<double>(layer->coded.weights().cwiseAbs().maxCoeff());
    });
}

void CodedProducts::print_thresholds() const
{
    for (std::size_t i = 0; i < layers_.size(); ++i)
        for (const Direction* direction : {&forward_, &backward_}) {
            if (!direction->checks()) continue;
            const Threshold& threshold = direction->thresholds[i];
            std::fprintf(stderr, "ddl-train: %s, %s: noise floor %.1e, smallest detectable error %.1e (relative)\n",
                         layers_[i].name.c_str(), text(direction->site).c_str(), threshold.noise_floor(),
                         direction->decoder.smallest_detectable(threshold.value()));
        }
}

nlohmann::ordered_json CodedProducts::describe() const
{
    nlohmann::ordered_json json{{"ranks", plan_.code.ranks()},
                                {"wrong_symbols", detected_.value()},
                                {"regenerated_blocks", regenerated_.value()},
                                {"layers", nlohmann::ordered_json::array()}};
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        nlohmann::ordered_json layer{{"name", layers_[i].name}};
        for (const Direction* direction : {&forward_, &backward_}) {
            if (!direction->checks()) continue;
            const Threshold& threshold = direction->thresholds[i];
            layer[text(direction->site)] = {
                {"noise_floor", threshold.noise_floor()},
                {"threshold", threshold.value()},
                {"smallest_detectable", direction->decoder.smallest_detectable(threshold.value())}};
        }
        json["layers"].push_back(std::move(layer));
    }
    return json;
}

}  // namespace ddl
