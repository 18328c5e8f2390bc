// SPDX-License-Identifier: Apache-2.0
// The products of a model's fully connected layers, computed by all ranks under a code. Every rank decodes all symbols,
// so all ranks see the same errors and act alike: they take the products from symbols that agree, and repair the blocks
// behind the others.
#pragma once

#include "ddl-workloads/codes/layer_code.hpp"
#include "ddl-workloads/codes/symbol_decoder.hpp"
#include "ddl-workloads/instruments/instruments.hpp"
#include "ddl-workloads/strategies/coded/coded_layer.hpp"
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
    LayerCode code;
    OptimizerPlan optimizer;
    std::optional<double> threshold;  // relative disagreement of symbols above which one is wrong; none: calibrated
    bool reencode = false;            // the model updates its weights, and the blocks are encoded anew
    SoftErrorPlan errors;
    std::filesystem::path directory;  // of errors.csv and products.csv
};

class CodedProducts : public DenseProducts {
 public:
    // The model, the exchanges and the instruments must outlive the object. Throws UsageError if the layers are too
    // small for the code.
    CodedProducts(CodedPlan plan, DenseModel& model, ExchangeThread& exchanges, Instruments& instruments);

    // Encodes the model's weights. The constructor does so, too.
    void encode();

    // Collective. Call once, before the first product: opens the tables.
    void begin();

    bool keeps_weights() const override { return !plan_.reencode; }
    void forward(std::size_t layer, std::span<const float> x, std::span<float> y) override;
    void backward(std::size_t layer, std::span<const float> x, std::span<const float> dy, std::span<float> dx) override;
    void update() override;
    void complete() override;
    bool verify() override;
    std::vector<StateTensor> state() override;
    void restored() override;

    // Call before the passes of a step; attempt: rollbacks since the newest verified state.
    void begin_step(std::int64_t steps_done, int attempt) { errors_.begin_step(steps_done, attempt); }

    // True once after each successful verify().
    bool take_verified() { return std::exchange(verified_, false); }

    // True on all ranks if a product had more errors than the code corrects. This product and those that follow are
    // not computed; their results are zeros.
    bool failed() const { return failed_; }

    // Call when the state of an earlier step was restored: ends failed().
    void rolled_back();

    // True unless the code has no redundancy.
    bool checks() const { return forward_.checks() || backward_.checks(); }
    ErrorLog& log() { return log_; }

    // Call after the last step.
    void finish();

    nlohmann::ordered_json describe() const;

 private:
    struct Direction {
        ErrorSite site;
        SymbolDecoder decoder;
        SymbolRoutes routes{};
        std::vector<Threshold> thresholds{};  // by layer
        bool checks() const { return decoder.symbols() > decoder.parts(); }
    };
    struct Layer {
        std::string name;
        CodedLayer coded;
    };

    void strike(Layer& layer, ErrorSite site);
    std::vector<Block> decoded(Direction& direction, std::size_t layer, const Block& term, base::code::ProductRow row);
    void probe(Direction& direction, std::size_t layer);
    std::vector<Block> parts_of(Direction& direction, std::size_t layer, Symbols& symbols, base::code::ProductRow& row);
    void regenerate(const Direction& direction, Layer& layer, const std::vector<int>& wrong);
    bool log_regenerated(const Direction& direction, const Layer& layer, const Block& before);
    void print_thresholds() const;
    int rank_of_block(int i, int j) const;

    CodedPlan plan_;
    DenseModel& model_;
    ExchangeThread& exchanges_;
    Instruments& instruments_;
    otf2::RegionRef encode_region_;
    otf2::RegionRef product_region_;
    otf2::RegionRef decode_region_;
    otf2::RegionRef regenerate_region_;
    otf2::RegionRef probe_region_;
    Direction forward_;
    Direction backward_;
    std::vector<Layer> layers_{};
    SymbolExchange symbols_;
    SoftErrors errors_;
    ErrorLog log_;
    std::optional<base::CsvWriter> product_rows_{};  // rank 0
    bool begun_ = false;                             // false: the model still has all weights
    bool failed_ = false;
    bool verified_ = false;
    otf2::PublishedCounter detected_{"code_errors_detected", "symbols of coded products that were wrong"};
    otf2::PublishedCounter regenerated_{"code_blocks_regenerated", "blocks of weights regenerated from other ranks"};
};

}  // namespace ddl
