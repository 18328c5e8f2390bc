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

// A weighted sum of rare, independent events (a compound Poisson sum): the sum of weights, its variance (at least the
// sum of squared weights), and the largest weight that an event can have.
struct RareEvents {
    double sum = 0.0;
    double variance = 0.0;
    double largest = 0.0;

    void add(const RareEvents& other);
    // Interval of the expected sum: the gamma interval of Fay and Feuer (1997), whose coverage is good for few events
    // or none.
    Interval interval(double confidence) const;
};

// Whether a mean was tested repeatedly as data arrived. Of the error probability one half is spent on all looks before
// a planned end, see sequence_half_width(), and the other on the look at that end.
enum class Looks { none, on_the_way, at_the_end };

// Mean of independent values (blocks, runs) with its standard error. Needs at least two values.
struct Mean {
    double value = 0.0;
    double standard_error = 0.0;
    double degrees_of_freedom = 0.0;
    Looks looks = Looks::none;
    RareEvents more{};   // rare events in the value and the standard error: `more` was added,
    RareEvents fewer{};  // `fewer` was subtracted

    // Another estimate that the data do not rule out; the interval then covers its interval, too.
    struct Alternative {
        bool any = false;
        double value = 0.0;
        double standard_error = 0.0;
        RareEvents more{};
        RareEvents fewer{};
    };
    Alternative or_else{};

    // Interval from Student's t, or one that is valid at every check of a run; confidence 0.95 for 95 %. With rare
    // events it is asymmetric: the distances of the value, of `more` and of `fewer` from their own bounds add up in
    // squares (MOVER; Zou and Donner 2008).
    Interval interval(double confidence) const;
    double p_value() const;  // two-sided, for a true mean of zero; looks as above
};
Mean mean_of(std::span<const double> values);

// One of the independent terms whose variances add up: the square of its standard error.
struct VarianceTerm {
    double variance = 0.0;
    double degrees_of_freedom = 0.0;
};

// Degrees of freedom of the sum of these variances (Satterthwaite 1946; Welch 1947). NaN if all variances are zero.
double joint_degrees_of_freedom(const std::vector<VarianceTerm>& terms);

double median(std::vector<double> values);  // `values` must not be empty

// Two-sided quantile: P(|t| <= t_quantile(c, dof)) = c.
double t_quantile(double confidence, double degrees_of_freedom);
double t_test_p(double t, double degrees_of_freedom);

// Half the width of an interval for a mean of `count` values that is valid at every check of a run: an asymptotic
// confidence sequence with a normal mixture (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas 2021), narrowest near the
// tenth value. With fewer than ten values their spread is not known well enough.
double sequence_half_width(double standard_error, double count, double confidence);

// Holm's step-down procedure: adjusted p-values, in the order given. If the hypotheses with p <= alpha are rejected,
// the chance of any false rejection is at most alpha.
std::vector<double> holm(const std::vector<double>& p);

// Benjamini and Hochberg's step-up procedure: adjusted p-values, in the order given. If the hypotheses with p <= alpha
// are rejected, at most a share alpha of the rejections is expected to be false, provided that the tests are
// independent or positively dependent.
std::vector<double> benjamini_hochberg(const std::vector<double>& p);

// Intervals of a probability, from `count` of `trials` (fractions are allowed for weighted trials). Wilson 1927 (score
// interval); Clopper and Pearson 1934, whose coverage is never too low and so mostly too high. Without trials: 0 to 1.
Interval wilson(double count, double trials, double confidence);
Interval clopper_pearson(double count, double trials, double confidence);

// Number of trials after which Wilson's interval has at most this half width, whatever the probability is.
std::int64_t trials_for_half_width(double half_width, double confidence);

// McNemar's exact two-sided test of paired trials against no difference. `only_first` and `only_second` count the pairs
// in which only the first or only the second trial failed.
double mcnemar_p(std::int64_t only_first, std::int64_t only_second);

// The smallest difference of failures with p <= alpha among `differing` pairs; none if no difference reaches it.
std::optional<std::int64_t> mcnemar_least_difference(std::int64_t differing, double alpha);

// The non-decreasing sequence closest to the values by least squares (pool adjacent violators; Ayer, Brunk, Ewing,
// Reid, Silverman 1955). Without weights all values count alike.
std::vector<double> isotonic(std::span<const double> values, std::span<const double> weights = {});

}  // namespace base
