// SPDX-License-Identifier: Apache-2.0
// Recommendation as in DLRM (Naumov et al. 2019, https://arxiv.org/abs/1906.00091), which predicts clicks. Dense
// features enter a bottom perceptron, category ids are looked up in embedding tables; the dot products of all pairs of
// their outputs enter a top perceptron, which computes the log odds of a click.
//
// The perceptrons are replicated on every rank, as in all other models. The tables are divided: table t is only on rank
// t mod ranks. So ranks exchange ids and table rows all-to-all in forward, and the rows' gradients in backward. Tables
// are updated by plain SGD, only in the rows that were looked up, as in the authors' program. With a GPU, tables and
// look-ups stay in host memory.
//
// With E features in a row, tables of r1, r2, ... rows, D dense features and P pairs of the categories and the dense
// features, the tables have E (r1 + r2 + ...) parameters, and the perceptrons D > bottom > E and E + P > top > 1 have n
// m + m for each layer from n to m.
#include "base/words.hpp"
#include "ddl-workloads/models/torch/torch_model.hpp"
#include "ddl-workloads/models/torch_makers.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <future>
#include <numeric>

namespace ddl {

namespace {

namespace nn = torch::nn;

std::span<std::byte> bytes_of(const torch::Tensor& tensor)
{
    return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

// ------------------------------------------------------------------------------------------------------------ tables

struct TablesPlan {
    std::vector<std::int64_t> rows;  // rows of each table
    std::int64_t width = 16;
    std::uint64_t seed = 1;
    double learning_rate = 0.01;
    // Sends the rows' gradients after backward: with a device they become ready on a different thread than other
    // gradients, so that the order of exchanges would differ between ranks.
    bool send_after_backward = false;
};

// The embedding tables, divided over the ranks.
class Tables : public OwnPart {
 public:
    Tables(const TablesPlan& plan, ExchangeThread& exchanges) : plan_{plan}, exchanges_{exchanges}
    {
        const auto ranks = static_cast<std::size_t>(exchanges.size());
        held_.resize(ranks);
        std::vector<std::int64_t> by_owner;
        std::vector<std::int64_t> place(plan.rows.size());
        for (std::size_t rank = 0, next = 0; rank < ranks; ++rank)
            for (std::size_t table = rank; table < plan.rows.size(); table += ranks) {
                ++held_[rank];
                place[table] = static_cast<std::int64_t>(next++);
                by_owner.push_back(static_cast<std::int64_t>(table));
                if (rank == static_cast<std::size_t>(exchanges.rank())) mine_.push_back(made(table));
            }
        by_owner_ = torch::tensor(by_owner);
        place_ = torch::tensor(place);
    }

    // Takes ids as samples x tables; returns rows as tables x samples x width.
    torch::Tensor look_up(const torch::Tensor& ids)
    {
        const std::int64_t samples = ids.size(0);
        const std::vector<std::int64_t> samples_of_ranks = everybodys(samples);
        // Ids are sent ordered by owner, then by table, then by sample.
        const torch::Tensor asked = ids.t().index_select(0, by_owner_).contiguous();
        Lookup lookup{.from_owners = asked_of_owners(samples), .to_askers = answered_to_askers(samples_of_ranks)};
        torch::Tensor to_answer = torch::empty({sum(lookup.to_askers)}, torch::kInt64);
        exchange(asked, lookup.from_owners, to_answer, lookup.to_askers).get();
        lookup.ids = of_askers(to_answer, samples_of_ranks);

        const torch::Tensor answer = rows(lookup.ids);
        torch::Tensor found = torch::empty({tables(), samples, plan_.width});
        exchange(answer, lookup.to_askers, found, lookup.from_owners).get();
        if (!at::GradMode::is_enabled()) return found.index_select(0, place_);

        found.set_requires_grad(true);
        const std::size_t number = lookups_.size();
        lookups_.push_back(std::move(lookup));
        found.register_hook([this, number](const torch::Tensor& gradient) {
            lookups_[number].sent = gradient.contiguous();
            if (!plan_.send_after_backward) send_back(lookups_[number]);
        });
        return found.index_select(0, place_);
    }

    std::vector<torch::Tensor> parameters() override { return mine_; }

    std::int64_t parameters_of_all_ranks() const override
    {
        return plan_.width * std::accumulate(plan_.rows.begin(), plan_.rows.end(), std::int64_t{0});
    }

    void finish_backward() override
    {
        for (Lookup& lookup : lookups_)
            if (lookup.sent.defined() && !lookup.gradients.defined()) send_back(lookup);
        for (Lookup& lookup : lookups_)
            if (lookup.sent_back.valid()) lookup.sent_back.get();
    }

    // The loss is the mean over the ranks, so a table's gradients are divided by the number of ranks.
    void update() override
    {
        const torch::NoGradGuard no_gradients;
        const double step = -plan_.learning_rate / static_cast<double>(exchanges_.size());
        for (const Lookup& lookup : lookups_) {
            std::int64_t begin = 0;
            for (const AskedIds& asked : lookup.ids) {
                const std::int64_t length = asked.ids.numel();
                mine_[asked.table].index_add_(0, asked.ids, lookup.gradients.narrow(0, begin, length), step);
                begin += length;
            }
        }
        lookups_.clear();
    }

 private:
    // Ids that another rank looks up in one of this rank's tables.
    struct AskedIds {
        std::size_t table = 0;  // index into mine_
        torch::Tensor ids;
    };
    struct Lookup {
        std::vector<std::int64_t> from_owners;  // ids (and rows) exchanged with each owner
        std::vector<std::int64_t> to_askers;    // ids (and rows) exchanged with each asking rank
        std::vector<AskedIds> ids = {};
        torch::Tensor sent = {};       // this rank's gradients, being sent
        torch::Tensor gradients = {};  // rows x width, in the order of `ids`
        std::future<void> sent_back = {};
    };

    std::int64_t tables() const { return static_cast<std::int64_t>(plan_.rows.size()); }

    static std::int64_t sum(const std::vector<std::int64_t>& counts)
    {
        return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    }

    // A table's initial values do not depend on the number of ranks.
    torch::Tensor made(std::size_t table) const
    {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // spreads the seeds of the tables
        auto generator = at::detail::createCPUGenerator(plan_.seed + odd * (table + 1));
        const double bound = 1.0 / std::sqrt(static_cast<double>(plan_.rows[table]));
        return torch::empty({plan_.rows[table], plan_.width}).uniform_(-bound, bound, generator);
    }

    std::vector<std::int64_t> everybodys(std::int64_t samples)
    {
        std::vector<std::int64_t> all(held_.size());
        exchanges_.all_gather(std::as_bytes(std::span{&samples, 1}), std::as_writable_bytes(std::span{all})).get();
        return all;
    }

    std::vector<std::int64_t> asked_of_owners(std::int64_t samples) const
    {
        std::vector<std::int64_t> counts;
        for (const std::int64_t held : held_) counts.push_back(held * samples);
        return counts;
    }

    std::vector<std::int64_t> answered_to_askers(const std::vector<std::int64_t>& samples_of_ranks) const
    {
        std::vector<std::int64_t> counts;
        for (const std::int64_t samples : samples_of_ranks)
            counts.push_back(static_cast<std::int64_t>(mine_.size()) * samples);
        return counts;
    }

    // Items of both tensors have the same width; counts are numbers of items.
    std::future<void> exchange(const torch::Tensor& mine, const std::vector<std::int64_t>& sent, torch::Tensor& all,
                               const std::vector<std::int64_t>& received)
    {
        const std::int64_t items = sum(sent) + sum(received);
        const std::int64_t item_bytes =
            items == 0 ? 0 : static_cast<std::int64_t>(mine.nbytes() + all.nbytes()) / items;
        const auto in_bytes = [item_bytes](const std::vector<std::int64_t>& counts) {
            std::vector<int> bytes;
            for (const std::int64_t count : counts) bytes.push_back(static_cast<int>(count * item_bytes));
            return bytes;
        };
        return exchanges_.all_to_all(bytes_of(mine), in_bytes(sent), bytes_of(all), in_bytes(received));
    }

    std::vector<AskedIds> of_askers(const torch::Tensor& ids, const std::vector<std::int64_t>& samples_of_ranks) const
    {
        std::vector<AskedIds> all;
        std::int64_t begin = 0;
        for (const std::int64_t samples : samples_of_ranks)
            for (std::size_t table = 0; table < mine_.size(); ++table, begin += samples)
                all.push_back({table, ids.narrow(0, begin, samples).remainder(mine_[table].size(0))});
        return all;
    }

    torch::Tensor rows(const std::vector<AskedIds>& all) const
    {
        std::vector<torch::Tensor> found;
        for (const AskedIds& asked : all) found.push_back(mine_[asked.table].index_select(0, asked.ids));
        return found.empty() ? torch::empty({0, plan_.width}) : torch::cat(found);
    }

    void send_back(Lookup& lookup)
    {
        lookup.gradients = torch::empty({sum(lookup.to_askers), plan_.width});
        lookup.sent_back = exchange(lookup.sent, lookup.from_owners, lookup.gradients, lookup.to_askers);
    }

    TablesPlan plan_;
    ExchangeThread& exchanges_;
    std::vector<std::int64_t> held_;  // number of tables on each rank
    torch::Tensor by_owner_;          // table numbers, ordered by owner
    torch::Tensor place_;             // position of each table in by_owner_
    std::vector<torch::Tensor> mine_;
    std::vector<Lookup> lookups_;  // since the last update
};

// ------------------------------------------------------------------------------------------------------- perceptrons

nn::Sequential perceptron(std::int64_t in, const std::vector<std::int64_t>& widths)
{
    nn::Sequential layers;
    for (const std::int64_t width : widths) {
        layers->push_back(nn::Linear{in, width});
        layers->push_back(nn::ReLU{});
        in = width;
    }
    return layers;
}

struct DlrmPlan {
    TablesPlan tables;
    std::vector<std::int64_t> bottom;  // widths of the hidden layers
    std::vector<std::int64_t> top;
};

class Dlrm : public Network {
 public:
    Dlrm(const DlrmPlan& plan, std::int64_t dense, ExchangeThread& exchanges) : tables_{plan.tables, exchanges}
    {
        std::vector<std::int64_t> bottom = plan.bottom;
        bottom.push_back(plan.tables.width);
        const auto vectors = static_cast<std::int64_t>(plan.tables.rows.size()) + 1;
        const std::int64_t pairs = vectors * (vectors - 1) / 2;
        bottom_ = perceptron(dense, bottom);
        top_ = perceptron(plan.tables.width + pairs, plan.top);
        const std::int64_t last = plan.top.empty() ? plan.tables.width + pairs : plan.top.back();
        top_->push_back(nn::Linear{last, 1});
        const torch::Tensor both = torch::tril_indices(vectors, vectors, -1);
        pairs_ = both[0] * vectors + both[1];
        register_module("bottom", bottom_);
        register_module("top", top_);
    }

    torch::Tensor forward(const Inputs& inputs) override
    {
        const torch::Tensor rows = looked_up(inputs.tokens.cpu()).to(inputs.images.device());
        const torch::Tensor features = from_dense(inputs.images);
        return clicked(interaction(features, rows));
    }

    torch::Tensor loss(const torch::Tensor& scores, const torch::Tensor& answers) const override
    {
        return nn::functional::binary_cross_entropy_with_logits(scores, answers.to(torch::kFloat));
    }

    torch::Tensor guesses(const torch::Tensor& scores) const override { return scores.gt(0.0); }
    OwnPart* own_part() override { return &tables_; }

 private:
    torch::Tensor looked_up(const torch::Tensor& ids)
    {
        const ModuleScope scope{"embedding"};
        return tables_.look_up(ids);
    }

    torch::Tensor from_dense(const torch::Tensor& dense)
    {
        const ModuleScope scope{"bottom"};
        return bottom_->forward(dense);
    }

    // The dense features, followed by the dot products of all pairs of vectors.
    torch::Tensor interaction(const torch::Tensor& features, const torch::Tensor& rows)
    {
        const ModuleScope scope{"interaction"};
        if (pairs_.device() != features.device()) pairs_ = pairs_.to(features.device());
        const torch::Tensor vectors = torch::cat({features.unsqueeze(0), rows}).transpose(0, 1);
        const torch::Tensor products = torch::bmm(vectors, vectors.transpose(1, 2)).flatten(1);
        return torch::cat({features, products.index_select(1, pairs_)}, 1);
    }

    torch::Tensor clicked(const torch::Tensor& x)
    {
        const ModuleScope scope{"top"};
        return top_->forward(x).squeeze(1);
    }

    Tables tables_;
    nn::Sequential bottom_;
    nn::Sequential top_;
    torch::Tensor pairs_;  // positions of the pairs in the matrix of all products
};

std::vector<std::int64_t> numbers(const base::Settings& settings, const std::string& option)
{
    std::vector<std::int64_t> all;
    for (const std::string& text : base::split(settings.text(option), '/')) {
        all.push_back(base::parse<std::int64_t>(text));
        if (all.back() < 1) base::fail_usage("dlrm[", option, "] must be at least 1, not ", text);
    }
    return all;
}

std::vector<std::int64_t> rows_of_tables(const base::Settings& settings, const SampleShape& shape)
{
    const auto tables = static_cast<std::size_t>(shape.categories);
    std::vector<std::int64_t> rows = numbers(settings, "rows");
    if (rows.empty()) return std::vector<std::int64_t>(tables, shape.rows);
    if (rows.size() == 1) return std::vector<std::int64_t>(tables, rows.front());
    if (rows.size() != tables)
        base::fail_usage("dlrm[rows=", settings.text("rows"), "] has ", rows.size(), " values for ", tables,
                         " categories");
    return rows;
}

}  // namespace

std::unique_ptr<Model> make_dlrm(const base::Settings& settings, const ModelPlan& plan)
{
    if (plan.shape.kind != SampleShape::Kind::clicks) base::fail_usage("dlrm is trained on clicks: --data clicks");
    const auto width = settings.get<std::int64_t>("embedding");
    if (width < 1) base::fail_usage("dlrm[embedding] must be at least 1");
    const DlrmPlan dlrm{.tables = {.rows = rows_of_tables(settings, plan.shape),
                                   .width = width,
                                   .seed = plan.seed,
                                   .learning_rate = plan.optimizer.learning_rate,
                                   .send_after_backward = plan.device.kind != DeviceKind::cpu},
                        .bottom = numbers(settings, "bottom"),
                        .top = numbers(settings, "top")};
    return torch_model([&] { return std::make_shared<Dlrm>(dlrm, plan.shape.dense, *plan.exchanges); }, plan);
}

}  // namespace ddl
