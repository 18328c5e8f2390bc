// SPDX-License-Identifier: Apache-2.0
// One matrix product C = A B a step, the work of codes for single products. Each result is compared with LibTorch's.
#include "base/error.hpp"
#include "base/system/waiting.hpp"
#include "base/units.hpp"
#include "ddl-workloads/models/dense_model.hpp"
#include "ddl-workloads/models/torch/threads.hpp"
#include "ddl-workloads/models/torch_makers.hpp"

#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include <algorithm>
#include <utility>

namespace ddl {

namespace {

struct ProductPlan {
    std::int64_t rows = 0;
    std::int64_t inner = 0;
    std::int64_t columns = 0;
    base::Nanoseconds compute{};
    double tolerance = 0.0;
};

std::span<float> floats_in(const torch::Tensor& tensor)
{
    return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

// A fully connected layer without bias that is not trained: its input is A, its weights are B^T.
class Product : public Model, public DenseModel {
 public:
    explicit Product(const ProductPlan& plan)
        : plan_{plan},
          left_{torch::randn({plan.rows, plan.inner})},
          right_{torch::randn({plan.columns, plan.inner})},
          exact_{torch::matmul(left_.to(torch::kDouble), right_.to(torch::kDouble).t()).to(torch::kFloat)},
          result_{torch::zeros_like(exact_)}
    {
    }

    std::vector<std::span<std::byte>> parameters() override
    {
        return {std::as_writable_bytes(floats_in(left_)), std::as_writable_bytes(floats_in(right_))};
    }
    std::int64_t parameter_count() const override { return left_.numel() + right_.numel(); }

    DenseModel* with_dense_layers() override { return this; }
    std::vector<DenseLayer> dense_layers() override
    {
        return {{.name = "product",
                 .outputs = plan_.columns,
                 .inputs = plan_.inner,
                 .weights = floats_in(right_),
                 .input = floats_in(left_),
                 .product_ns = plan_.compute.count()}};
    }
    void leave_products_to(DenseProducts& products) override { products_ = &products; }
    DenseProducts* products() override { return products_; }

    bool verify() override { return products_ == nullptr || products_->verify(); }
    void complete() override
    {
        if (products_ != nullptr) products_->complete();
    }

    void take(Batch) override {}
    void forward() override
    {
        if (products_ != nullptr) return products_->forward(0, floats_in(left_), floats_in(result_));
        const std::int64_t begin_ns = base::now_ns();
        torch::matmul_out(result_, left_, right_.t());
        base::sleep_through(begin_ns + plan_.compute.count());
    }
    void backward() override {}

    // The comparison is here because forward() may be repeated until its result is right.
    void update() override
    {
        error_ = ((result_ - exact_).norm() / exact_.norm()).item<double>();
        largest_error_ = std::max(largest_error_, *error_);
        if (!(*error_ <= plan_.tolerance)) ++wrong_;
        ++products_made_;
    }

    std::optional<double> loss() const override { return error_; }

    std::vector<StateTensor> state() override
    {
        std::vector<StateTensor> all;
        for (const auto& [path, tensor] : {std::pair{"model/left", left_}, std::pair{"model/right", right_}})
            all.push_back(
                {.path = path, .shape = tensor.sizes().vec(), .bytes = std::as_writable_bytes(floats_in(tensor))});
        if (products_ == nullptr) return all;
        for (StateTensor& block : products_->state()) all.push_back(std::move(block));
        return all;
    }
    void restored() override
    {
        if (products_ != nullptr) products_->restored();
    }

    nlohmann::ordered_json describe() const override
    {
        return {{"torch", TORCH_VERSION},
                {"torch_threads", at::get_num_threads()},
                {"products", products_made_},
                {"wrong_products", wrong_},
                {"largest_error", largest_error_}};
    }
    std::optional<std::string> broken_promise() const override
    {
        if (wrong_ == 0) return std::nullopt;
        return base::join(wrong_, " of ", products_made_, " products differ from LibTorch's by more than ",
                          plan_.tolerance, " (relative)");
    }

 private:
    ProductPlan plan_;
    torch::Tensor left_;   // A
    torch::Tensor right_;  // B^T
    torch::Tensor exact_;
    torch::Tensor result_;
    DenseProducts* products_ = nullptr;
    std::optional<double> error_;  // of the last product: norm of the difference / norm of the product
    double largest_error_ = 0.0;
    std::int64_t products_made_ = 0;
    std::int64_t wrong_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_product(const base::Settings& settings, const ModelPlan& plan)
{
    const ProductPlan product{.rows = settings.get<std::int64_t>("rows"),
                              .inner = settings.get<std::int64_t>("inner"),
                              .columns = settings.get<std::int64_t>("columns"),
                              .compute = settings.get<base::Nanoseconds>("compute"),
                              .tolerance = settings.get<double>("tolerance")};
    if (std::min({product.rows, product.inner, product.columns}) < 1)
        base::fail_usage("product: rows, inner and columns must be at least 1");
    if (!(product.tolerance > 0.0)) base::fail_usage("product[tolerance] must be more than 0");
    limit_threads(plan.threads);
    torch::manual_seed(plan.seed);
    return std::make_unique<Product>(product);
}

}  // namespace ddl
