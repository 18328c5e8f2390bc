// SPDX-License-Identifier: Apache-2.0
// Products that all ranks compute under a code. Every rank decodes all symbols, so all ranks see the same errors and
// act alike: they take the products from symbols that agree, and repair the blocks behind the others.
//
// With late=skip a rank decodes the symbols that have arrived as soon as they are enough, so ranks see different
// errors: each leaves wrong symbols out, and requests what all do together when a later step begins. A rank that
// finds enough symbols of the others when it reaches a product gives up its term: all ranks have been sent these
// symbols.
#pragma once

#include "ddl-workloads/codes/symbol_decoder.hpp"
#include "ddl-workloads/instruments/instruments.hpp"
#include "ddl-workloads/models/dense_model.hpp"
#include "ddl-workloads/strategies/coded/blocks.hpp"
#include "ddl-workloads/strategies/coded/code_scope.hpp"
#include "ddl-workloads/strategies/coded/error_log.hpp"
#include "ddl-workloads/strategies/coded/open_products.hpp"
#include "ddl-workloads/strategies/coded/product_log.hpp"
#include "ddl-workloads/strategies/coded/soft_errors.hpp"
#include "ddl-workloads/strategies/coded/symbol_exchange.hpp"
#include "ddl-workloads/strategies/coded/thresholds.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ddl {

struct LatePlan {
    int spare = 1;         // symbols beyond those needed that a product waits for, as a check
    std::int64_t lag = 8;  // steps that a rank may be behind the others
};

struct CodedPlan {
    std::optional<double> threshold;  // relative disagreement of symbols above which one is wrong; none: calibrated
    CodePrecision precision = CodePrecision::fp32;  // of blocks, products and symbols
    SoftErrorPlan errors;
    std::optional<LatePlan> late{};   // none: products wait for all symbols
    std::int64_t refresh = 0;         // steps after which the blocks are encoded again
    std::filesystem::path directory;  // of errors.csv and products.csv
};

// A rank's request to all ranks: check and repair the blocks, or restore the state of an earlier step.
enum class Request : std::int64_t { none, repair, roll_back };

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

    // With late=skip: what this rank requests because of the errors that it has seen since the last call.
    Request take_request() { return std::exchange(request_, Request::none); }

    // Collective: waits for the late symbols of all products, before other communication of all ranks.
    void settle();

    // Collective, after verify(): all ranks encode the same weights again.
    void refresh();

    // True on all ranks if a product had more errors than the code corrects. This product and those that follow are
    // not computed; their results are zeros.
    bool failed() const { return failed_; }

    // A checksum of all inputs and results of products since forget_alike(), which every rank computes alike.
    std::span<std::byte> alike() { return std::as_writable_bytes(std::span{&alike_, 1}); }
    void forget_alike() { alike_ = 0; }

    // Collective: recomputes the blocks of these ranks, or fails.
    virtual void repair(const std::vector<int>& ranks) = 0;

    void alter_by(AlterNumbers alter) override { alter_ = std::move(alter); }
    void altered(const StateTensor& tensor, double size) override;

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

    // `layers`: their names. The model, the exchanges and the instruments must outlive the object.
    CodedProducts(CodedPlan plan, Direction forward, Direction backward, std::vector<std::string> layers, Model& model,
                  ExchangeThread& exchanges, Instruments& instruments);

    // Makes a soft error, or none.
    template <class Value>
    void strike(std::size_t layer, ErrorSite site, BlockOf<Value>& block);

    // Alters numbers of a step if --alter says so; site: the first part of their path.
    template <class Value>
    void alter(const std::string& site, std::size_t layer, std::span<Value> numbers);
    void computed_alike(std::span<const float> numbers);

    // Computes this rank's term of a product if it is needed, and what else the product is for.
    template <class Value>
    using Multiply = std::function<BlockOf<Value>(bool is_needed)>;

    // The wanted parts of a product, each of `rows` x `columns`.
    template <class Value>
    std::vector<BlockOf<Value>> product(Direction& direction, std::size_t layer, const Multiply<Value>& multiply,
                                        Eigen::Index rows, Eigen::Index columns);

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

    // Collective: encodes the same weights on all ranks. Returns the largest change of this rank's blocks, relative to
    // their largest value.
    virtual double encode_again() = 0;

    // Collective, with late=skip: makes what every rank computes alike equal again. Returns false, on all ranks, if
    // there is no majority.
    bool meet();

    void fail() { failed_ = true; }
    bool begun() const { return begun_; }
    DenseModel& dense() { return *model_.with_dense_layers(); }
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
    template <class Value>
    std::vector<BlockOf<Value>> decoded_whole(Direction& direction, std::size_t layer, const Multiply<Value>& multiply,
                                              base::code::ProductRow row);
    template <class Value>
    std::vector<BlockOf<Value>> decoded_early(Direction& direction, std::size_t layer, const Multiply<Value>& multiply,
                                              Eigen::Index rows, Eigen::Index columns, base::code::ProductRow row);
    template <class Value>
    bool decode_arrived(Direction& direction, std::size_t layer, const Arrived<Value>& arrived,
                        std::vector<BlockOf<Value>>& parts, base::code::ProductRow& row);
    // symbols: null for those that have not arrived. Writes the wanted parts.
    template <class Value>
    Decoded decode(Direction& direction, std::span<const Value* const> symbols, double threshold,
                   std::vector<BlockOf<Value>>& parts, double least_size = 0.0);
    bool are_enough(const Direction& direction, const std::vector<bool>& arrived) const;
    void print_thresholds() const;
    void add_cpu_times();

    CodedPlan plan_;
    Model& model_;
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
    std::tuple<OpenProducts<float>, OpenProducts<double>> open_;  // one is used
    SoftErrors errors_;
    ErrorLog log_;
    std::optional<ProductLog> product_log_{};  // rank 0
    nlohmann::ordered_json cpu_ms_{};          // of all ranks, by region, after finish()
    AlterNumbers alter_{};
    std::uint32_t alike_ = 0;
    bool begun_ = false;  // false: the model still has all weights
    bool failed_ = false;
    bool verified_ = false;
    Request request_ = Request::none;
    std::int64_t refreshes_ = 0;
    double drift_ = 0.0;  // largest relative difference that agreeing or encoding again made
    otf2::PublishedCounter detected_{"code_errors_detected", "symbols of coded products that were wrong"};
    otf2::PublishedCounter regenerated_{"code_blocks_regenerated", "blocks of weights regenerated from other ranks"};
};

}  // namespace ddl
