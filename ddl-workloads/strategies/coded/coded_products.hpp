// SPDX-License-Identifier: Apache-2.0
// Products that all ranks compute under a code. Every rank decodes all symbols, so all ranks see the same errors and
// act alike: they take the products from symbols that agree, and repair the blocks behind the others.
#pragma once

#include "ddl-workloads/codes/symbol_decoder.hpp"
#include "ddl-workloads/instruments/instruments.hpp"
#include "ddl-workloads/models/dense_model.hpp"
#include "ddl-workloads/strategies/coded/blocks.hpp"
#include "ddl-workloads/strategies/coded/code_scope.hpp"
#include "ddl-workloads/strategies/coded/error_log.hpp"
#include "ddl-workloads/strategies/coded/soft_errors.hpp"
#include "ddl-workloads/strategies/coded/symbol_exchange.hpp"
#include "ddl-workloads/strategies/coded/thresholds.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

struct CodedPlan {
    std::optional<double> threshold;  // relative disagreement of symbols above which one is wrong; none: calibrated
    CodePrecision precision = CodePrecision::fp32;  // of blocks, products and symbols
    SoftErrorPlan errors;
    std::filesystem::path directory;  // of errors.csv and products.csv
};

class CodedProducts : public DenseProducts {
 public:
    // Encodes the model's weights. Call before begin().
    virtual void encode() = 0;

    // Collective. Call once, before the first product: opens the tables.
    void begin();

    bool verify() override;

    // Call before the passes of a step; attempt: rollbacks since the newest verified state.
    void begin_step(std::int64_t steps_done, int attempt) { errors_.begin_step(steps_done, attempt); }

    // True once after each successful verify().
    bool take_verified() { return std::exchange(verified_, false); }

    // True on all ranks if a product had more errors than the code corrects. This product and those that follow are
    // not computed; their results are zeros.
    bool failed() const { return failed_; }

    // A checksum of all inputs and results of products since forget_alike(), which every rank computes alike.
    std::span<std::byte> alike() { return std::as_writable_bytes(std::span{&alike_, 1}); }
    void forget_alike() { alike_ = 0; }

    // Collective: recomputes the blocks of these ranks, or fails.
    virtual void repair(const std::vector<int>& ranks) = 0;

    void alter_by(AlterNumbers alter) override { alter_ = std::move(alter); }

    // Call when the state of an earlier step was restored: ends failed().
    void rolled_back();

    // True unless the code has no redundancy.
    bool checks() const { return forward_.checks() || backward_.checks(); }
    ErrorLog& log() { return log_; }

    // Collective. Call after the last step.
    void finish();

    nlohmann::ordered_json describe() const;

 protected:
    struct Direction {
        ErrorSite site;
        SymbolDecoder decoder;
        std::vector<int> wanted{};  // the parts that are computed
        bool plain = false;         // each symbol is a part, and nothing checks it
        SymbolRoutes routes{};
        std::vector<Threshold> thresholds{};  // by layer
        bool checks() const { return decoder.symbols() > decoder.parts(); }
    };

    // `layers`: their names. The exchanges and the instruments must outlive the object.
    CodedProducts(CodedPlan plan, Direction forward, Direction backward, std::vector<std::string> layers,
                  ExchangeThread& exchanges, Instruments& instruments);

    // Makes a soft error, or none.
    template <class Value>
    void strike(std::size_t layer, ErrorSite site, BlockOf<Value>& block);

    // Alters numbers of a step if --alter says so; site: the first part of their path.
    template <class Value>
    void alter(const std::string& site, std::size_t layer, std::span<Value> numbers);
    void computed_alike(std::span<const float> numbers);

    // The wanted parts of a product, of which `term` is this rank's term.
    template <class Value>
    std::vector<BlockOf<Value>> decoded(Direction& direction, std::size_t layer, const BlockOf<Value>& term,
                                        base::code::ProductRow row);

    // Multiplies this rank's block with ones and compares the symbols: parts_of().
    virtual void probe(Direction& direction, std::size_t layer) = 0;
    template <class Value>
    std::vector<BlockOf<Value>> parts_of(Direction& direction, std::size_t layer, Symbols<Value>& symbols,
                                         base::code::ProductRow& row);

    // Collective: replaces the blocks behind wrong symbols, or calls fail().
    virtual void regenerate(const Direction& direction, std::size_t layer, const std::vector<int>& wrong) = 0;

    // Collective. For regenerate(), after the blocks were replaced; change: the largest of this rank's block, of which
    // `size` is the largest value; none: it was not replaced.
    void end_regeneration(const Direction& direction, std::size_t layer, std::optional<double> change, double size);

    void fail() { failed_ = true; }
    bool begun() const { return begun_; }
    ExchangeThread& exchanges() { return exchanges_; }
    const ExchangeThread& exchanges() const { return exchanges_; }
    Instruments& instruments() { return instruments_; }
    SymbolExchange& symbols() { return symbols_; }
    Direction& forward_direction() { return forward_; }
    Direction& backward_direction() { return backward_; }
    const std::string& layer_name(std::size_t layer) const { return layers_[layer]; }
    CodeRegion& encode_region() { return encode_region_; }
    CodeRegion& product_region() { return product_region_; }
    CodeRegion& regenerate_region() { return regenerate_region_; }
    void count_regenerated(std::size_t blocks) { regenerated_.add(blocks); }

 private:
    std::int64_t step() { return static_cast<std::int64_t>(instruments_.clock().step()); }
    void print_thresholds() const;
    void add_cpu_times();

    CodedPlan plan_;
    ExchangeThread& exchanges_;
    Instruments& instruments_;
    CodeRegion encode_region_;
    CodeRegion product_region_;
    CodeRegion decode_region_;
    CodeRegion regenerate_region_;
    CodeRegion probe_region_;
    Direction forward_;
    Direction backward_;
    std::vector<std::string> layers_;
    SymbolExchange symbols_;
    SoftErrors errors_;
    ErrorLog log_;
    std::optional<base::CsvWriter> product_rows_{};  // rank 0
    nlohmann::ordered_json cpu_ms_{};                // of all ranks, by region, after finish()
    AlterNumbers alter_{};
    std::uint32_t alike_ = 0;
    bool begun_ = false;  // false: the model still has all weights
    bool failed_ = false;
    bool verified_ = false;
    otf2::PublishedCounter detected_{"code_errors_detected", "symbols of coded products that were wrong"};
    otf2::PublishedCounter regenerated_{"code_blocks_regenerated", "blocks of weights regenerated from other ranks"};
};

}  // namespace ddl
