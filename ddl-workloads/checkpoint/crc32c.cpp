#include "ddl-workloads/checkpoint/crc32c.hpp"

#include <array>
#include <cstring>

#ifdef __x86_64__
#include <nmmintrin.h>
#endif

namespace ddl {

namespace {

// Polynomials over GF(2), the coefficient of x^0 in the highest bit.
constexpr std::uint32_t castagnoli = 0x82f63b78;

constexpr std::uint32_t times_x(std::uint32_t a)
{
    return (a >> 1U) ^ ((a & 1U) != 0 ? castagnoli : 0U);
}

constexpr std::array<std::uint32_t, 256> make_table()
{
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit) remainder = times_x(remainder);
        table[byte] = remainder;
    }
    return table;
}

std::uint32_t advance_by_table(std::uint32_t state, std::span<const std::byte> bytes)
{
    static constexpr std::array table = make_table();
    for (const std::byte byte : bytes)
        state = (state >> 8U) ^ table[(state ^ static_cast<std::uint32_t>(byte)) & 0xffU];
    return state;
}

#ifdef __x86_64__

constexpr std::uint32_t times(std::uint32_t a, std::uint32_t b)
{
    std::uint32_t product = 0;
    for (std::uint32_t bit = 1U << 31U; bit != 0; bit >>= 1U) {
        if ((a & bit) != 0) product ^= b;
        b = times_x(b);
    }
    return product;
}

constexpr std::uint32_t power_of_x(std::uint64_t exponent)
{
    std::uint32_t power = 1U << 31U;
    for (std::uint32_t square = 1U << 30U; exponent != 0; exponent >>= 1U) {
        if ((exponent & 1U) != 0) power = times(power, square);
        square = times(square, square);
    }
    return power;
}

std::uint64_t word_at(const std::byte* bytes)
{
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

// The instruction gives its result after three cycles, but takes a new word every cycle: three pieces at a time, each
// from zero, joined by what the bytes behind a piece do to its remainder.
__attribute__((target("sse4.2"))) std::uint32_t advance_by_instruction(std::uint32_t state,
                                                                       std::span<const std::byte> bytes)
{
    constexpr std::size_t piece = std::size_t{16} << 10U;
    constexpr std::uint32_t past_a_piece = power_of_x(8 * piece);
    for (; bytes.size() >= 3 * piece; bytes = bytes.subspan(3 * piece)) {
        std::uint64_t first = state;
        std::uint64_t second = 0;
        std::uint64_t third = 0;
        for (const std::byte* at = bytes.data(); at != bytes.data() + piece; at += sizeof(std::uint64_t)) {
            first = _mm_crc32_u64(first, word_at(at));
            second = _mm_crc32_u64(second, word_at(at + piece));
            third = _mm_crc32_u64(third, word_at(at + 2 * piece));
        }
        const std::uint32_t joined =
            times(past_a_piece, static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second);
        state = times(past_a_piece, joined) ^ static_cast<std::uint32_t>(third);
    }
    std::uint64_t rest = state;
    for (; bytes.size() >= sizeof rest; bytes = bytes.subspan(sizeof rest))
        rest = _mm_crc32_u64(rest, word_at(bytes.data()));
    return advance_by_table(static_cast<std::uint32_t>(rest), bytes);
}

#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes)
{
    return ~advance_by_table(~0U, bytes);
}

std::uint32_t crc32c(std::span<const std::byte> bytes)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2")) return ~advance_by_instruction(~0U, bytes);
#endif
    return crc32c_by_table(bytes);
}

}  // namespace ddl
