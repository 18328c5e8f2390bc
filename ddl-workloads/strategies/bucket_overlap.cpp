// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/bucket_overlap.hpp"

#include "base/error.hpp"
#include "ddl-workloads/models/gradient_model.hpp"

namespace ddl {

namespace {

std::int64_t positive_bytes(const base::Settings& settings, const std::string& name)
{
    const std::int64_t bytes = settings.get<base::Bytes>(name).count;
    if (bytes <= 0) base::fail_usage(name, "=", settings.text(name), ": a bucket holds at least one byte");
    return bytes;
}

Precision parsed_hook(const std::string& hook)
{
    if (hook == "none") return Precision::full;
    if (hook == "fp16") return Precision::half;
    base::fail_usage("hook=", hook, " is not one of none|fp16");
}

}  // namespace

BucketOverlap::BucketOverlap(const Plan& plan, ExchangeThread& exchanges, Instruments& instruments)
    : plan_{plan}, exchanges_{exchanges}, instruments_{instruments}
{
}

void BucketOverlap::attach(Model& model)
{
    const auto start = [this](const Bucket& bucket, ExchangeDone done) {
        PhaseClock& clock = instruments_.clock();
        const BucketTag tag{clock.step(), bucket.index};
        const std::int64_t now = base::now_ns();
        instruments_.bucket_ready(tag, now);
        if (bucket.last) clock.enter(Phase::wait_exchange, now);
        waits_ = waits_ || bucket.last;
        if (bucket.on_gpu) return exchanges_.average_on_gpu(*bucket.on_gpu, tag, std::move(done));
        return bucket.parts.empty()
                   ? exchanges_.average(bucket.gradients, tag, std::move(done), plan_.precision)
                   : exchanges_.average_shard(bucket.gradients, bucket.parts, tag, std::move(done), plan_.precision);
    };
    gradients_of(model).exchange_in_buckets(plan_.caps, exchanges_, start);
}

void BucketOverlap::backward(Model& model, PhaseClock& clock)
{
    waits_ = false;
    clock.enter(Phase::backward);
    model.backward();
    // With a static graph, the first step exchanges at the end of backward, and the reducer marks no bucket as the
    // last.
    if (!waits_) clock.enter(Phase::wait_exchange);
}

std::vector<base::OptionCard> BucketOverlap::options()
{
    return {{"first", "1MiB", "size limit of the first bucket (Torch models)"},
            {"cap", "25MiB", "size limit of the other buckets (Torch models)"},
            {"static_graph", "no", "all steps have the graph of the first one (Torch models)"},
            {"view", "yes", "gradients are views into buckets, not copied back (Torch models)"},
            {"hook", "none", "fp16: exchange in half precision"}};
}

BucketOverlap::Plan BucketOverlap::parsed(const base::Settings& settings)
{
    return {.caps = {.first_bytes = positive_bytes(settings, "first"),
                     .bytes = positive_bytes(settings, "cap"),
                     .static_graph = settings.get<bool>("static_graph"),
                     .view = settings.get<bool>("view")},
            .precision = parsed_hook(settings.text("hook"))};
}

base::Capabilities BucketOverlap::needs(const base::Settings& settings)
{
    if (parsed(settings).precision == Precision::full) return {&exchanged_gradients};
    return {&host_exchange, &exchanged_gradients};
}

}  // namespace ddl
