// A training that makes trials: its parts go to the loop that makes them.
#include "base/error.hpp"
#include "ddl-workloads/train/evaluation.hpp"
#include "ddl-workloads/train/training.hpp"
#include "ddl-workloads/trials/trial_loop.hpp"

#include <memory>

namespace ddl {

void Training::make_trials()
{
    if (!model_->learns()) base::fail_usage("--trials: ", plan_.model, " does not learn, so that nothing can be lost");
    loader_->stop();
    const std::shared_ptr<const Records> records = open_part(data_, Part::train, reading());
    const std::unique_ptr<Records> held_out = open_part(data_, Part::held_out, reading());
    held_out_answers_ = held_out->records() * data_.shape.answers();
    if (exchanges_.rank() == 0) write_record(nullptr);  // who reads outcomes before the end needs to know
    TrialLoop loop{{.model = *model_,
                    .strategy = *strategy_,
                    .exchanges = exchanges_,
                    .clock = instruments_->clock(),
                    .guarded = {.recorder = instruments_->recorder(),
                                .location = instruments_->main(),
                                .model = *model_,
                                .exchanges = exchanges_,
                                .directory = directory_},
                    .accumulate = plan_.accumulate,
                    .strategy_name = base::parse_plug_in(plan_.strategy).name,
                    .first_step = first_step_,
                    .load = [&](std::int64_t first_step) { return loader_from(records, first_step); },
                    .accuracy =
                        [&] {
                            return accuracy(*model_, *held_out, plan_.input.skip_corrupt, skipped_, exchanges_,
                                            instruments_->clock());
                        },
                    .checksum = [&] { return checksum(model_->parameters()); },
                    .show =
                        [&](double fraction, const std::string& detail) {
                            if (progress_ && progress_->due()) progress_->show(fraction, detail);
                        }},
                   plan_.trials,
                   directory_};
    loop.run();
    stall_watch_.reset();
    strategy_->finish();
    instruments_->finish();
    if (exchanges_.rank() == 0)
        trials_ = {{"count", plan_.trials.size()},
                   {"ended", loop.ended()},
                   {"crashed", loop.crashed()},
                   {"held_out", held_out_answers_}};
}

}  // namespace ddl
