// GB/s of memory.stream against a bare loop of the same shape over arrays of the same size, in interleaved pairs.
#include "base/clock.hpp"
#include "base/cpus.hpp"
#include "base/error.hpp"
#include "base/paired.hpp"
#include "noisegen/pages.hpp"
#include "noisegen/shelf.hpp"

#include <iostream>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

constexpr std::size_t footprint = std::size_t{192} << 20U;
constexpr std::size_t pairs = 21;
constexpr std::int64_t measured_ns = 200'000'000;

// As one would write it by hand, one pass over whole arrays.
struct BareLoops {
    noisegen::Pages pages{footprint};

    std::size_t triad()
    {
        constexpr std::size_t items = footprint / (3 * sizeof(double));
        double* a = static_cast<double*>(pages.data());
        const double* b = a + items;
        const double* c = b + items;
#if defined(__x86_64__)
        const __m128d s = _mm_set1_pd(0.5);
        for (std::size_t i = 0; i < items; i += 2)
            _mm_stream_pd(a + i, _mm_add_pd(_mm_load_pd(b + i), _mm_mul_pd(s, _mm_load_pd(c + i))));
        _mm_sfence();
#else
        for (std::size_t i = 0; i < items; ++i) a[i] = b[i] + 0.5 * c[i];
#endif
        return items * 3 * sizeof(double);
    }

    std::size_t update()
    {
        constexpr std::size_t items = footprint / sizeof(double);
        double* a = static_cast<double*>(pages.data());
        for (std::size_t i = 0; i < items; ++i) a[i] = 0.5 * a[i] + 0.5;
        return items * 2 * sizeof(double);
    }
};

// GB/s of work() repeated for the measured time.
template <class Work>
double speed(Work&& work)
{
    std::size_t bytes = 0;
    const std::int64_t begin = base::now_ns();
    std::int64_t now = begin;
    for (; now - begin < measured_ns; now = base::now_ns()) bytes += work();
    return static_cast<double>(bytes) / static_cast<double>(now - begin);
}

void compare(const std::string& shape, std::size_t (BareLoops::*bare_loop)())
{
    const noisegen::StressorCard& card = noisegen::stressors().find("memory.stream");
    const base::Settings settings =
        noisegen::stressors().settings(card, {{"shape", shape}, {"bytes", base::format(base::Bytes{footprint})}});
    const auto stressor = card.make(settings, noisegen::Place{});
    BareLoops bare;
    std::fill_n(static_cast<double*>(bare.pages.data()), footprint / sizeof(double), 1.0);
    stressor->begin({});
    const base::Paired paired = base::measure_in_pairs(
        pairs, [&] { return speed([&] { return stressor->step().bytes; }); },
        [&] { return speed([&] { return (bare.*bare_loop)(); }); });
    std::cout << "memory.stream " << shape << ": " << paired.first.text() << " GB/s; bare loop " << paired.second.text()
              << " GB/s; ratio " << paired.ratio.text() << "\n";
}

}  // namespace

int main()
try {
    base::bind_this_thread({*base::allowed_cpus().rbegin()});
    compare("triad", &BareLoops::triad);
    compare("update", &BareLoops::update);
} catch (...) {
    return base::report_failure("memory-bench");
}
