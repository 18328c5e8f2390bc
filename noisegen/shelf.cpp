#include "noisegen/shelf.hpp"

namespace noisegen {

extern const StressorCard quiet;
extern const StressorCard placebo;
extern const StressorCard cpu_spin;
extern const StressorCard cpu_interrupt;
extern const StressorCard cache_llc;
extern const StressorCard memory_stream;
extern const StressorCard memory_random;
extern const StressorCard memory_chase;
extern const StressorCard capacity_hog;
extern const StressorCard network_exchange;
extern const StressorCard network_stream;
extern const StressorCard network_alltoall;
extern const StressorCard network_allreduce;
extern const StressorCard network_incast;
extern const StressorCard io_write;
extern const StressorCard io_read;
extern const StressorCard io_random;
extern const StressorCard io_checkpoint;
extern const StressorCard io_smallfiles;
extern const StressorCard metadata_create;
extern const StressorCard metadata_stat;
extern const StressorCard metadata_unlink;
extern const StressorCard control_delay;
extern const StressorCard control_pause;
extern const StressorCard control_sham;

const base::Shelf<StressorCard>& stressors()
{
    static const base::Shelf<StressorCard> shelf{
        "stressor",
        "noisegen",
        {&quiet,          &placebo,          &cpu_spin,          &cpu_interrupt,  &cache_llc,
         &memory_stream,  &memory_random,    &memory_chase,      &capacity_hog,   &network_exchange,
         &network_stream, &network_alltoall, &network_allreduce, &network_incast, &io_write,
         &io_read,        &io_random,        &io_checkpoint,     &io_smallfiles,  &metadata_create,
         &metadata_stat,  &metadata_unlink,  &control_delay,     &control_pause,  &control_sham}};
    return shelf;
}

}  // namespace noisegen
