// SPDX-License-Identifier: Apache-2.0
// Small statistics: Student's t intervals, intervals of probabilities, medians, Holm's correction, monotone fits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace base {

struct Interval {
    double low = 0.0;
    double high = 0.0;

    bool contains(double value) const { return low <= value && value <= high; }
    double half_width() const { return (high - low) / 2.0; }
};

// A weighted sum of rare, independent events (a compound Poisson sum): their weights' sum, the sum's variance (at least
// the sum of squared weights), and the largest weight that an event could have had.
struct RareEvents {
    double sum = 0.0;
    double variance = 0.0;
    double largest = 0.0;

    void add(const RareEvents& other);
    // For the expected sum: the gamma interval of Fay and Feuer (1997), which covers well with few events, or none.
    Interval interval(double confidence) const;
};

// Mean of independent values (blocks, runs) with its standard error. Needs two values or more.
struct Mean {
    double value = 0.0;
    double standard_error = 0.0;
    double degrees_of_freedom = 0.0;
    bool looked_at = false;  // while it grew, so that it may have been ended at a look: see sequence_half_width()
    RareEvents more{};       // rare events that are part of the value and of the standard error: `more` added to it,
    RareEvents fewer{};      // `fewer` taken from it

    // Another estimate that the data do not rule out: the interval spans that one's, too.
    struct Alternative {
        bool any = false;
        double value = 0.0;
        double standard_error = 0.0;
        RareEvents more{};
        RareEvents fewer{};
    };
    Alternative or_else{};

    // From Student's t, or valid at all looks; 0.95 for 95 %. With rare events not symmetric: the distances of the
    // value, of `more` and of `fewer` from their own bounds add up in squares (MOVER; Zou and Donner 2008).
    Interval interval(double confidence) const;
    double p_value() const;  // two-sided, of a true mean of zero; likewise
};
Mean mean_of(std::span<const double> values);

double median(std::vector<double> values);  // of one value or more

// Two-sided: P(|t| <= t_quantile(c, dof)) = c.
double t_quantile(double confidence, double degrees_of_freedom);
double t_test_p(double t, double degrees_of_freedom);

// Half the width of an interval that holds at all looks at once, of a mean of `count` values so far: asymptotic
// confidence sequence with a normal mixture (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas 2021), the mixture narrowest
// near the tenth value. With fewer than ten values their spread is known too badly for it.
double sequence_half_width(double standard_error, double count, double confidence);

// Holm's step-down: adjusted p-values, in the order given. Each hypothesis with p <= alpha is rejected with a chance of
// any false rejection of at most alpha.
std::vector<double> holm(const std::vector<double>& p);

// Benjamini and Hochberg's step-up: adjusted p-values, in the order given. Of the hypotheses with p <= alpha a share of
// at most alpha is expected to be rejected falsely, if the tests are independent or depend on each other positively.
std::vector<double> benjamini_hochberg(const std::vector<double>& p);

// Intervals of a probability, from `count` of `trials` (not whole where trials are weighted). Wilson 1927 (score
// interval); Clopper and Pearson 1934, which never covers too rarely and so mostly too often. No trials: 0 to 1.
Interval wilson(double count, double trials, double confidence);
Interval clopper_pearson(double count, double trials, double confidence);

// Number of trials that give Wilson's interval that half width at most, whatever the probability.
std::int64_t trials_for_half_width(double half_width, double confidence);

// McNemar's exact test of paired trials: `only_first` and `only_second` are pairs in which one of the two failed alone.
// Two-sided, of no difference.
double mcnemar_p(std::int64_t only_first, std::int64_t only_second);

// The smallest difference of failures with p <= alpha among `differing` pairs; none if no difference has it.
std::optional<std::int64_t> mcnemar_least_difference(std::int64_t differing, double alpha);

// Least squares among sequences that do not decrease (pool adjacent violators; Ayer, Brunk, Ewing, Reid, Silverman
// 1955). Without weights all count alike.
std::vector<double> isotonic(std::span<const double> values, std::span<const double> weights = {});

}  // namespace base
