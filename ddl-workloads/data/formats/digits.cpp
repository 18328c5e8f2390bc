// SPDX-License-Identifier: Apache-2.0
// The data set `digits`: 1797 real images, 8 x 8, smoothly enlarged to CIFAR's 3 x 32 x 32.
#include "ddl-workloads/data/formats/digits.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/environment.hpp"
#include "base/words.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/formats/upscale.hpp"

#include <algorithm>
#include <cmath>

#include <zlib.h>

namespace ddl {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t digits_in_all = 1797;
constexpr std::size_t side = 8;
constexpr float most_ink = 16.0F;
constexpr auto how_to_get = "reinstall Crosstalk, give its path (CROSSTALK_DIGITS=FILE), or use --data synthetic";

struct CloseGzip {
    void operator()(gzFile file) const { ::gzclose(file); }
};
using Gzip = std::unique_ptr<gzFile_s, CloseGzip>;

Digit parse_digit(std::string_view line)
{
    const std::vector<std::string> cells = base::split(line, ',');
    if (cells.size() != side * side + 1) base::fail("expected 64 pixels and a label");
    Digit digit;
    for (std::size_t pixel = 0; pixel < digit.ink.size(); ++pixel) {
        const int value = base::parse<int>(cells[pixel]);
        if (value < 0 || value > 16) base::fail("pixel ", value, " is not 0 to 16");
        digit.ink[pixel] = static_cast<float>(value) / most_ink;
    }
    const int label = base::parse<int>(cells.back());
    if (label < 0 || label > 9) base::fail("label ", label, " is not a digit");
    digit.label = static_cast<std::uint8_t>(label);
    return digit;
}

class Digits : public SampleSource {
 public:
    explicit Digits(const fs::path& file) : digits_{read_digits(file)} {}

    std::int64_t samples() const override { return std::ssize(digits_); }

    void sample(std::int64_t number, std::span<std::uint8_t> record) const override
    {
        const Digit& digit = digits_.at(static_cast<std::size_t>(number));
        record[0] = digit.label;
        auto pixel = record.begin() + 1;
        const std::vector<float> grey = upscale(digit.ink, side, side, 32, 32);
        for (int channel = 0; channel < 3; ++channel)
            pixel = std::transform(grey.begin(), grey.end(), pixel,
                                   [](float ink) { return static_cast<std::uint8_t>(std::lround(255.0F * ink)); });
    }

 private:
    std::vector<Digit> digits_;
};

}  // namespace

fs::path find_digits()
{
    if (const auto given = base::environment("CROSSTALK_DIGITS")) return *given;
    const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
    for (const char* folder : {"../share/crosstalk/data", CROSSTALK_DATA_FOLDER}) {
        fs::path file = (programs / folder / "digits.csv.gz").lexically_normal();
        if (fs::exists(file)) return file;
    }
    base::unavailable("no digits.csv.gz next to the programs in ", programs.string(), ": ", how_to_get);
}

std::vector<Digit> read_digits(const fs::path& file)
{
    base::refuse_irregular(file);
    const Gzip input{::gzopen(file.c_str(), "rb")};
    if (!input) base::unavailable("cannot open ", file.string(), "; ", how_to_get);
    std::vector<Digit> digits;
    std::array<char, 1024> line = {};
    while (::gzgets(input.get(), line.data(), static_cast<int>(line.size())) != nullptr) {
        const std::size_t number = digits.size() + 1;
        if (number > digits_in_all) base::fail(file.string(), " is not the data set digits: more than 1797 images");
        try {
            digits.push_back(parse_digit(base::trim(line.data())));
        } catch (const base::Error& error) {
            base::fail(file.string(), ", line ", number, ": ", error.what());
        }
    }
    int code = Z_OK;
    const char* why = ::gzerror(input.get(), &code);
    if (code != Z_OK) base::fail("cannot read ", file.string(), ": ", why);
    if (digits.size() != digits_in_all)
        base::fail(file.string(), " is not the data set digits: ", digits.size(), " images instead of 1797");
    return digits;
}

extern const DataSetCard digits_data{
    .name = "digits",
    .summary = "1797 real handwritten digits, 8x8 enlarged to 3x32x32, 10 classes",
    .options = {{"file", "auto", "digits.csv.gz; auto: $CROSSTALK_DIGITS, or the one installed"}},
    .shape = [](const base::Settings&) { return SampleShape{}; },
    .make = [](const base::Settings& settings) -> std::unique_ptr<SampleSource> {
        const bool find = settings.text("file") == "auto";
        return std::make_unique<Digits>(find ? find_digits() : fs::path{settings.text("file")});
    },
};

}  // namespace ddl
