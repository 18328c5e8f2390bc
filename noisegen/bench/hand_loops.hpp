// SPDX-License-Identifier: Apache-2.0
// The shapes of memory.stream as loops written by hand, one version for the vectors of each instruction set.
#pragma once

#include <bit>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace noisegen::hand {

using Loop = void (*)(double* a, const double* b, const double* c, std::size_t items);

// Number of columns that are written of the 512 in a page; writing all of them would take seconds.
constexpr std::size_t partial_columns = 8;

// Hand-written loops: each makes one pass over whole arrays, one vector after the other.
struct HandLoops {
    std::string unit;
    std::map<std::string, Loop> loops;  // keyed by shape
};

#if defined(__x86_64__)

inline void put(double* to)
{
    _mm_stream_si64(reinterpret_cast<long long*>(to), std::bit_cast<long long>(0.5));
}

// `mm` is the prefix of the intrinsics for vectors of type V.
#define CROSSTALK_HAND_LOOPS(unit, attribute, V, mm)                                                           \
    namespace unit {                                                                                           \
    constexpr std::size_t n = sizeof(V) / sizeof(double);                                                      \
    attribute inline void triad(double* a, const double* b, const double* c, std::size_t items)                \
    {                                                                                                          \
        const V s = mm##_set1_pd(0.5);                                                                         \
        for (std::size_t i = 0; i < items; i += n)                                                             \
            mm##_stream_pd(a + i, mm##_add_pd(mm##_load_pd(b + i), mm##_mul_pd(s, mm##_load_pd(c + i))));      \
        _mm_sfence();                                                                                          \
    }                                                                                                          \
    attribute inline void add(double* a, const double* b, const double* c, std::size_t items)                  \
    {                                                                                                          \
        for (std::size_t i = 0; i < items; i += n)                                                             \
            mm##_stream_pd(a + i, mm##_add_pd(mm##_load_pd(b + i), mm##_load_pd(c + i)));                      \
        _mm_sfence();                                                                                          \
    }                                                                                                          \
    attribute inline void scale(double* a, const double* b, const double*, std::size_t items)                  \
    {                                                                                                          \
        const V s = mm##_set1_pd(0.5);                                                                         \
        for (std::size_t i = 0; i < items; i += n) mm##_stream_pd(a + i, mm##_mul_pd(s, mm##_load_pd(b + i))); \
        _mm_sfence();                                                                                          \
    }                                                                                                          \
    attribute inline void copy(double* a, const double* b, const double*, std::size_t items)                   \
    {                                                                                                          \
        for (std::size_t i = 0; i < items; i += n) mm##_stream_pd(a + i, mm##_load_pd(b + i));                 \
        _mm_sfence();                                                                                          \
    }                                                                                                          \
    attribute inline void update(double* a, const double*, const double*, std::size_t items)                   \
    {                                                                                                          \
        const V s = mm##_set1_pd(0.5);                                                                         \
        for (std::size_t i = 0; i < items; i += n)                                                             \
            mm##_store_pd(a + i, mm##_add_pd(mm##_mul_pd(s, mm##_load_pd(a + i)), s));                         \
    }                                                                                                          \
    attribute inline void read(double* a, const double*, const double*, std::size_t items)                     \
    {                                                                                                          \
        V sums[4] = {};                                                                                        \
        for (std::size_t i = 0; i < items; i += 4 * n)                                                         \
            for (std::size_t k = 0; k < 4; ++k) sums[k] = mm##_add_pd(sums[k], mm##_load_pd(a + i + k * n));   \
        asm volatile("" : : "m"(sums)); /* the result counts as used */                                        \
    }                                                                                                          \
    attribute inline void write(double* a, const double*, const double*, std::size_t items)                    \
    {                                                                                                          \
        for (std::size_t i = 0; i < items; i += n) mm##_store_pd(a + i, mm##_set1_pd(0.5));                    \
    }                                                                                                          \
    attribute inline void ntwrite(double* a, const double*, const double*, std::size_t items)                  \
    {                                                                                                          \
        for (std::size_t i = 0; i < items; i += n) mm##_stream_pd(a + i, mm##_set1_pd(0.5));                   \
        _mm_sfence();                                                                                          \
    }                                                                                                          \
    inline void partial(double* a, const double*, const double*, std::size_t items)                            \
    {                                                                                                          \
        for (std::size_t column = 0; column < partial_columns; ++column)                                       \
            for (std::size_t i = column; i < items; i += 512) put(a + i);                                      \
        _mm_sfence();                                                                                          \
    }                                                                                                          \
    inline const HandLoops loops{#unit,                                                                        \
                                 {{"triad", triad},                                                            \
                                  {"add", add},                                                                \
                                  {"scale", scale},                                                            \
                                  {"copy", copy},                                                              \
                                  {"update", update},                                                          \
                                  {"read", read},                                                              \
                                  {"write", write},                                                            \
                                  {"ntwrite", ntwrite},                                                        \
                                  {"partial", partial}}};                                                      \
    }

CROSSTALK_HAND_LOOPS(avx512, __attribute__((target("avx512f"))), __m512d, _mm512)
CROSSTALK_HAND_LOOPS(avx2, __attribute__((target("avx2,fma"))), __m256d, _mm256)
CROSSTALK_HAND_LOOPS(sse2, , __m128d, _mm)

inline std::vector<HandLoops> hand_loops()
{
    std::vector<HandLoops> usable;
    if (__builtin_cpu_supports("avx512f")) usable.push_back(avx512::loops);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) usable.push_back(avx2::loops);
    usable.push_back(sse2::loops);
    return usable;
}

#else

#define CROSSTALK_HAND_LOOP(shape, item)                                                             \
    inline void shape(double* a, [[maybe_unused]] const double* b, [[maybe_unused]] const double* c, \
                      std::size_t items)                                                             \
    {                                                                                                \
        for (std::size_t i = 0; i < items; ++i) a[i] = item;                                         \
    }
CROSSTALK_HAND_LOOP(triad, b[i] + 0.5 * c[i])
CROSSTALK_HAND_LOOP(add, b[i] + c[i])
CROSSTALK_HAND_LOOP(scale, 0.5 * b[i])
CROSSTALK_HAND_LOOP(copy, b[i])
CROSSTALK_HAND_LOOP(update, 0.5 * a[i] + 0.5)
CROSSTALK_HAND_LOOP(write, 0.5)

inline void read(double* a, const double*, const double*, std::size_t items)
{
    double sums[16] = {};
    for (std::size_t i = 0; i < items; i += 16)
        for (std::size_t k = 0; k < 16; ++k) sums[k] += a[i + k];
    asm volatile("" : : "m"(sums));
}
inline void partial(double* a, const double*, const double*, std::size_t items)
{
    for (std::size_t column = 0; column < partial_columns; ++column)
        for (std::size_t i = column; i < items; i += 512) a[i] = 0.5;
}

inline std::vector<HandLoops> hand_loops()
{
    return {{"plain C",
             {{"triad", triad},
              {"add", add},
              {"scale", scale},
              {"copy", copy},
              {"update", update},
              {"read", read},
              {"write", write},
              {"ntwrite", write},
              {"partial", partial}}}};
}

#endif

}  // namespace noisegen::hand
