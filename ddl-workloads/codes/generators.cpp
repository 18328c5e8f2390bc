// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"
#include "ddl-workloads/codes/code.hpp"
#include "ddl-workloads/codes/strength.hpp"

namespace ddl {

namespace {

Matrix draw(int parts, int parities, base::Random& random)
{
    Matrix generator = Matrix::Identity(parts + parities, parts);
    for (int parity = 0; parity < parities; ++parity)
        for (int part = 0; part < parts; ++part) generator(parts + parity, part) = base::draw_normal(random);
    return generator;
}

}  // namespace

Matrix systematic_generator(int parts, int parities, std::uint64_t seed)
{
    const int draws = parts <= 20 ? 16 : 1;  // comparing large ones takes long
    constexpr int sets = 100;  // number of sets of symbols that are compared; the comparison need not be exact
    base::Random random = base::random_stream(seed, 0);
    Matrix best;
    double lowest = 0.0;
    for (int i = 0; i < draws; ++i) {
        Matrix generator = draw(parts, parities, random);
        const double condition = worst_condition(generator, 1, sets).largest;
        if (i == 0 || condition < lowest) {
            best = std::move(generator);
            lowest = condition;
        }
        if (parities == 0) break;
    }
    return best;
}

Matrix repeated_identity(int parts, int copies)
{
    return Matrix::Identity(parts, parts).replicate(copies, 1);
}

}  // namespace ddl
