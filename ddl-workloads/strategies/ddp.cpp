// Buckets are exchanged while backward still computes, as PyTorch's DistributedDataParallel does. Torch models cut
// their gradients with the real c10d::Reducer, the emulated model by its own options.
#include "ddl-workloads/strategies/strategy.hpp"

namespace ddl {

namespace {

class BucketOverlap : public Strategy {
 public:
    BucketOverlap(const BucketCaps& caps, Transport& transport, Instruments& instruments)
        : caps_{caps}, transport_{transport}, instruments_{instruments}
    {
    }

    void attach(Model& model) override
    {
        const auto start = [this](const Bucket& bucket, ExchangeDone done) {
            PhaseClock& clock = instruments_.clock();
            const BucketTag tag{clock.step(), bucket.index};
            const std::int64_t now = base::now_ns();
            instruments_.bucket_ready(tag, now);
            if (bucket.last) clock.enter(Phase::wait_exchange, now);
            return transport_.average(bucket.gradients, tag, std::move(done));
        };
        model.exchange_in_buckets(caps_, transport_, start);
    }

    void backward(Model& model, PhaseClock& clock) override
    {
        clock.enter(Phase::backward);
        model.backward();
    }

 private:
    BucketCaps caps_;
    Transport& transport_;
    Instruments& instruments_;
};

std::int64_t positive_bytes(const base::Settings& settings, const std::string& name)
{
    const std::int64_t bytes = settings.get<base::Bytes>(name).count;
    if (bytes <= 0) base::fail_usage("ddp[", name, "=", settings.text(name), "]: a bucket holds at least one byte");
    return bytes;
}

}  // namespace

extern const StrategyCard ddp_strategy;
const StrategyCard ddp_strategy{
    .name = "ddp",
    .summary = "buckets overlap with backward (c10d::Reducer)",
    .options = {{"first", "1MiB", "cap of the bucket that is ready first, of Torch models"},
                {"cap", "25MiB", "cap of the others, of Torch models"}},
    .make = [](const base::Settings& settings, Transport& transport,
               Instruments& instruments) -> std::unique_ptr<Strategy> {
        const BucketCaps caps{.first_bytes = positive_bytes(settings, "first"),
                              .bytes = positive_bytes(settings, "cap")};
        return std::make_unique<BucketOverlap>(caps, transport, instruments);
    },
};

}  // namespace ddl
