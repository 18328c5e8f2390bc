// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/memory/stream_kernels.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace noisegen {

namespace {

constexpr double factor = 0.5;
constexpr std::size_t line_items = 64 / sizeof(double);  // doubles in a cache line

// Prefetches some lines ahead: the hardware prefetcher falls behind if non-temporal stores compete for its buffers.
// Beyond the end of an array this is harmless.
inline void prefetch(const double* from)
{
    constexpr std::size_t lines_ahead = 8;
    __builtin_prefetch(from + lines_ahead * line_items);
}

// Visits lines one page apart: the first line of every page, then the second line of every page, ... Each line is in
// another row of DRAM and needs another address translation.
class LineOfPages {
 public:
    // `at`: number of items already done.
    LineOfPages(std::size_t items, std::size_t at)
        : pages_{items / page_items}, page_{at / line_items % pages_}, line_{at / line_items / pages_}
    {
    }

    // Returns the first item of the current line and advances to the next line.
    std::size_t next()
    {
        const std::size_t first = page_ * page_items + line_ * line_items;
        if (++page_ == pages_) {
            page_ = 0;
            ++line_;
        }
        return first;
    }

 private:
    std::size_t pages_;
    std::size_t page_;
    std::size_t line_;
};

// Waits until non-temporal stores are visible.
inline void fence()
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

#if defined(__x86_64__)

inline void put_past_caches(double* to, double value)
{
    _mm_stream_si64(reinterpret_cast<long long*>(to), std::bit_cast<long long>(value));
}

namespace avx512 {
#define CROSSTALK_UNIT __attribute__((target("avx512f")))
#define CROSSTALK_UNIT_NAME "avx512"
#define CROSSTALK_UNIT_BYTES 64
#define CROSSTALK_UNIT_STREAM _mm512_stream_pd
#define CROSSTALK_UNIT_PUT put_past_caches
#include "noisegen/stressors/memory/stream_kernels.inc"
}  // namespace avx512

namespace avx2 {
#define CROSSTALK_UNIT __attribute__((target("avx2,fma")))
#define CROSSTALK_UNIT_NAME "avx2"
#define CROSSTALK_UNIT_BYTES 32
#define CROSSTALK_UNIT_STREAM _mm256_stream_pd
#define CROSSTALK_UNIT_PUT put_past_caches
#include "noisegen/stressors/memory/stream_kernels.inc"
}  // namespace avx2

namespace sse2 {
#define CROSSTALK_UNIT
#define CROSSTALK_UNIT_NAME "sse2"
#define CROSSTALK_UNIT_BYTES 16
#define CROSSTALK_UNIT_STREAM _mm_stream_pd
#define CROSSTALK_UNIT_PUT put_past_caches
#include "noisegen/stressors/memory/stream_kernels.inc"
}  // namespace sse2

#endif

// Compiled on every processor, so that it is tested everywhere.
inline void put(double* to, double value)
{
    *to = value;
}

namespace portable {
#define CROSSTALK_UNIT
#define CROSSTALK_UNIT_NAME "portable"
#define CROSSTALK_UNIT_BYTES 16
#define CROSSTALK_UNIT_STREAM store
#define CROSSTALK_UNIT_PUT put
#include "noisegen/stressors/memory/stream_kernels.inc"
}  // namespace portable

const std::vector<StreamShape>& shapes()
{
    static const std::vector<StreamShape> all{
        {"triad", "a = b + s*c", 3, 24, &StreamLoops::triad},
        {"copy", "a = b", 2, 16, &StreamLoops::copy},
        {"scale", "a = s*b", 2, 16, &StreamLoops::scale},
        {"add", "a = b + c", 3, 24, &StreamLoops::add},
        {"update", "a = s*a + s", 1, 16, &StreamLoops::update},
        {"read", "sum of a", 1, 8, &StreamLoops::read},
        {"write", "a = s through the caches, which read each line first", 1, 16, &StreamLoops::write},
        {"ntwrite", "a = s with non-temporal stores", 1, 8, &StreamLoops::ntwrite},
        {"partial", "8 bytes a page with non-temporal stores; counts these 8 bytes, not the cache line", 1, 8,
         &StreamLoops::partial, 64},  // 3 to 120 ns, depending on the processor
        {"pagewrite", "a line a page with non-temporal stores", 1, 8, &StreamLoops::pagewrite, 8},
        {"pageupdate", "a line a page in place: no prefetcher knows the next one", 1, 16, &StreamLoops::pageupdate, 8},
    };
    return all;
}

}  // namespace

const std::vector<StreamLoops>& stream_loops()
{
    static const std::vector<StreamLoops> usable = [] {
        std::vector<StreamLoops> found;
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f")) found.push_back(avx512::loops);
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back(avx2::loops);
        found.push_back(sse2::loops);
#endif
        found.push_back(portable::loops);
        return found;
    }();
    return usable;
}

std::vector<std::string> stream_shapes()
{
    std::vector<std::string> names;
    for (const StreamShape& shape : shapes()) names.push_back(shape.name);
    return names;
}

const StreamShape& stream_shape(const std::string& name)
{
    for (const StreamShape& shape : shapes())
        if (shape.name == name) return shape;
    const std::vector<std::string> names = stream_shapes();
    base::fail_usage("no shape '", name, "'", base::did_you_mean(name, names), " (there are ",
                     base::join_words(names, ", "), ")");
}

}  // namespace noisegen
