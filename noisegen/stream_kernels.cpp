#include "noisegen/stream_kernels.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#define CROSSTALK_WIDE __attribute__((target("avx512f")))
#define CROSSTALK_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CROSSTALK_CLONES
#endif

// ThreadSanitizer and indirect functions, which target_clones makes, do not go together: it starts too late for them.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#undef CROSSTALK_CLONES
#define CROSSTALK_CLONES
#endif

namespace noisegen {

namespace {

constexpr double scale = 0.5;

#if defined(__x86_64__)

CROSSTALK_WIDE void triad_wide(double* a, const double* b, const double* c, std::size_t count)
{
    const __m512d s = _mm512_set1_pd(scale);
    for (std::size_t i = 0; i < count; i += 8)
        _mm512_stream_pd(a + i, _mm512_fmadd_pd(s, _mm512_load_pd(c + i), _mm512_load_pd(b + i)));
    _mm_sfence();
}

CROSSTALK_WIDE void copy_wide(double* a, const double* b, const double*, std::size_t count)
{
    for (std::size_t i = 0; i < count; i += 8) _mm512_stream_pd(a + i, _mm512_load_pd(b + i));
    _mm_sfence();
}

CROSSTALK_WIDE void write_wide(double* a, const double*, const double*, std::size_t count)
{
    const __m512d s = _mm512_set1_pd(scale);
    for (std::size_t i = 0; i < count; i += 8) _mm512_stream_pd(a + i, s);
    _mm_sfence();
}

void triad_narrow(double* a, const double* b, const double* c, std::size_t count)
{
    const __m128d s = _mm_set1_pd(scale);
    for (std::size_t i = 0; i < count; i += 8)
        for (std::size_t j = i; j < i + 8; j += 2)
            _mm_stream_pd(a + j, _mm_add_pd(_mm_load_pd(b + j), _mm_mul_pd(s, _mm_load_pd(c + j))));
    _mm_sfence();
}

void copy_narrow(double* a, const double* b, const double*, std::size_t count)
{
    for (std::size_t i = 0; i < count; i += 8)
        for (std::size_t j = i; j < i + 8; j += 2) _mm_stream_pd(a + j, _mm_load_pd(b + j));
    _mm_sfence();
}

void write_narrow(double* a, const double*, const double*, std::size_t count)
{
    const __m128d s = _mm_set1_pd(scale);
    for (std::size_t i = 0; i < count; i += 8)
        for (std::size_t j = i; j < i + 8; j += 2) _mm_stream_pd(a + j, s);
    _mm_sfence();
}

bool wide()
{
    return __builtin_cpu_supports("avx512f") != 0;
}

void triad(double* a, const double* b, const double* c, std::size_t count)
{
    wide() ? triad_wide(a, b, c, count) : triad_narrow(a, b, c, count);
}
void copy(double* a, const double* b, const double* c, std::size_t count)
{
    wide() ? copy_wide(a, b, c, count) : copy_narrow(a, b, c, count);
}
void write(double* a, const double* b, const double* c, std::size_t count)
{
    wide() ? write_wide(a, b, c, count) : write_narrow(a, b, c, count);
}

#else

void triad(double* a, const double* b, const double* c, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + scale * c[i];
}
void copy(double* a, const double* b, const double*, std::size_t count)
{
    std::copy(b, b + count, a);
}
void write(double* a, const double*, const double*, std::size_t count)
{
    std::fill(a, a + count, scale);
}

#endif

CROSSTALK_CLONES void update(double* a, const double*, const double*, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) a[i] = scale * a[i] + scale;
}

CROSSTALK_CLONES void read(double* a, const double*, const double*, std::size_t count)
{
    double sums[8] = {};
    for (std::size_t i = 0; i < count; i += 8)
        for (std::size_t j = 0; j < 8; ++j) sums[j] += a[i + j];
    asm volatile("" : : "m"(sums));  // the result counts as used
}

const std::vector<StreamShape>& shapes()
{
    static const std::vector<StreamShape> all{
        {"triad", "a = b + s*c", 3, 24, triad},   {"copy", "a = b", 2, 16, copy},
        {"update", "a = s*a + s", 1, 16, update}, {"read", "sum of a", 1, 8, read},
        {"write", "a = s", 1, 8, write},
    };
    return all;
}

}  // namespace

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
