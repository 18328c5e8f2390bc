// SPDX-License-Identifier: Apache-2.0
// ddl-alter: flips bits in the stored state of a training, undoes this, and compares two states.
#include "base/cli/commands.hpp"
#include "base/cli/option_checks.hpp"
#include "base/files.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "soft-errors/alteration/alter.hpp"
#include "soft-errors/alteration/difference.hpp"
#include "soft-errors/drawing/roles.hpp"

#include <algorithm>
#include <iostream>

namespace soft_errors {

namespace {

base::Section exit_codes()
{
    return {.title = "Exit status",
            .entries = {{"0", "fine"}, {"1", "the file cannot be read or is invalid"}, {"2", "wrong usage"}}};
}

class Alter : public base::Command {
 public:
    Alter() : Command{"ddl-alter", "flips bits in a training's stored state, and undoes it"}
    {
        options.description(
            "Flips bits, drawn at random from a seed, in an HDF5 file, a .keras file or a checkpoint of ddl-train. A "
            "record of the changes is written first: --undo restores the file, --replay applies the record to another "
            "file. Bits count from the left: 0 is the sign, then exponent and fraction.");
        options.add_positional("FILE", file_,
                               "HDF5 (.h5, .weights.h5, PyTorch by h5py), .keras, or a checkpoint's "
                               "directory");
        add_where_to();
        add_how_many();
        add_which();
        add_how();
        options.section(exit_codes());
        options.example("ddl-alter model.weights.h5 --list");
        options.example("ddl-alter model.weights.h5 --flips 10 --bits 1 --seed 7 --out altered.h5");
        options.example("    flips the highest exponent bit of ten numbers, listed in altered.h5.alteration.csv");
        options.example("ddl-alter altered.h5 --undo altered.h5.alteration.json --in-place");
        options.see_also("ddl-alter-difference(1), ddl-train(1), h5dump(1)");
    }

    int run() override
    {
        check();
        if (list_) {
            list_tensors(std::cout, file_, request_.sites.precision);
        } else if (!undo_.empty()) {
            undo_alteration(std::cout, file_, request_.out, undo_);
        } else {
            alter(std::cout, request_);
        }
        base::flush_stdout();
        return base::exit_fine;
    }

 private:
    void add_where_to()
    {
        options.group("Where to");
        options.add("out", out_, "alter a copy, which appears when complete; FILE is unchanged", "COPY");
        options.add_switch("in-place", in_place_, "alter the file itself");
        options.add("record", record_,
                    "record of the changes, with .csv and .undo next to it (default: COPY.alteration.json or "
                    "FILE.alteration.json)",
                    "R.json");
        options.add("undo", undo_, "restore the values before the alteration of this record", "R.json");
        options.add("replay", replay_, "alter the numbers and bits of this record, or of one of hdf5_corrupter",
                    "R.json");
        options.add("map", map_, "names for --replay into another framework's file: columns from,to,permutation",
                    "M.csv");
        options.add_switch("list", list_, "list the tensors and exit");
        options.add_switch("dry-run", request_.dry_run, "print what would change and exit");
    }
    void add_how_many()
    {
        options.group("How many");
        options.add("flips", flips_, "alter N numbers", "NUMBER");
        options.add("share", share_, "alter this share of all numbers, such as 0.001%", "PERCENT");
        options.add("bit-error-rate", bit_error_rate_, "flip each bit with this probability, such as 1e-7", "RATE");
        options.add("probability", request_.sites.probability, "probability that a selected number is altered",
                    "PROBABILITY");
        options.add("seed", request_.seed, "the same seed alters the same bits", "NUMBER");
    }
    void add_which()
    {
        options.group("Which");
        options.add("location", request_.sites.locations, "only tensors whose path begins with this; may be repeated",
                    "PREFIX");
        options.add("role", request_.sites.role, "only weight, bias, norm, optimizer or other", "ROLE");
        options.add_choice("precision", request_.sites.precision, {"auto", "16", "bf16", "32", "64"},
                           "only floating-point numbers of this kind; bf16 includes uint16");
        options.add_choice(
            "sampling", sampling_, {"element", "tensor", "stratified"},
            "element: all numbers are equally likely; tensor: all tensors are; stratified: the same count from each "
            "tensor");
    }
    void add_how()
    {
        options.group("How");
        options.add("bits", bits_, "bits that may flip, counted from the left: 0-31, or 1 (default: all)", "RANGE");
        options.add("burst", request_.flips.burst, "bits that flip in each number", "NUMBER");
        options.add("mask", request_.flips.mask,
                    "pattern of bits that flip together, such as 101101, at a random position", "BITS");
        options.add("scale", scale_, "multiply by this instead of flipping", "FACTOR");
        options.add_switch("sign", request_.flips.sign, "the sign may flip in addition to --bits");
        options.add_choice("not-finite", not_finite_, {"allow", "redraw", "skip"},
                           "if a flip gives NaN or infinity: allow it, redraw the bits, or skip the number");
        options.add_choice("checksum", checksum_, {"follow", "keep"},
                           "a checkpoint's CRC-32C: update it, or keep the old one to test loading");
    }

    bool given_any(const std::vector<const char*>& names, std::string& which) const
    {
        for (const char* name : names)
            if (options.given(name)) {
                which = name;
                return true;
            }
        return false;
    }

    void check()
    {
        request_.file = file_;
        if (!request_.file.has_filename()) request_.file = request_.file.parent_path();
        check_where_to();
        check_how_many();
        check_how();
        std::string which;
        const std::vector<const char*> drawing{"flips",    "share", "bit-error-rate", "probability",
                                               "location", "role",  "sampling",       "bits",
                                               "burst",    "mask",  "scale",          "sign"};
        if ((!replay_.empty() || !undo_.empty()) && given_any(drawing, which))
            base::fail_usage("--", which, " cannot be combined with ", undo_.empty() ? "--replay" : "--undo",
                             ": the record defines the changes");
        request_.replay = replay_;
        request_.map = map_;
        if (!map_.empty() && replay_.empty()) base::fail_usage("--map is for --replay");
        request_.keep_checksum = checksum_ == "keep";
        if (!std::filesystem::exists(request_.file)) base::fail("there is no file ", file_);
    }
    void check_where_to()
    {
        const bool changes = !list_ && !request_.dry_run;
        if (changes && out_.empty() && !in_place_)
            base::fail_usage("needs --out COPY, or --in-place to change the file itself");
        if (!out_.empty() && in_place_) base::fail_usage("give only one of --out and --in-place");
        if (!undo_.empty() && !replay_.empty()) base::fail_usage("give only one of --undo and --replay");
        if (!undo_.empty() && request_.dry_run) base::fail_usage("--dry-run cannot be combined with --undo");
        request_.out = out_;
        if (!request_.out.empty() && !request_.out.has_filename()) request_.out = request_.out.parent_path();
        std::filesystem::path of = out_.empty() ? request_.file : request_.out;
        of += ".alteration.json";
        request_.record = record_.empty() ? of : std::filesystem::path{record_};
        if (request_.record.extension() != ".json") base::fail_usage("--record: '", record_, "' does not end in .json");
        if (changes && undo_.empty() && std::filesystem::exists(request_.record)) base::fail_taken(request_.record);
    }
    void check_how_many()
    {
        SiteRequest& sites = request_.sites;
        base::check_at_least<std::int64_t>(1, flips_, "--flips");
        sites.flips = static_cast<std::uint64_t>(flips_);
        if (options.given("share")) {
            sites.share = base::parsed<base::Percent>("--share", share_).fraction();
            if (!(*sites.share > 0.0 && *sites.share <= 1.0))
                base::fail_usage("--share must be more than 0% and at most 100%");
        }
        if (options.given("bit-error-rate")) {
            sites.bit_error_rate = base::parsed<double>("--bit-error-rate", bit_error_rate_);
            if (!(*sites.bit_error_rate > 0.0 && *sites.bit_error_rate < 1.0))
                base::fail_usage("--bit-error-rate must be between 0 and 1, not ", bit_error_rate_);
        }
        if (options.given("flips") + options.given("share") + options.given("bit-error-rate") > 1)
            base::fail_usage("give only one of --flips, --share and --bit-error-rate");
        if (!(sites.probability >= 0.0 && sites.probability <= 1.0))
            base::fail_usage("--probability must be 0 to 1, not ", sites.probability);
        if (!sites.role.empty() && std::ranges::find(all_roles(), sites.role) == all_roles().end())
            base::fail_usage("--role: no ", sites.role, base::did_you_mean(sites.role, all_roles()), " (",
                             base::join_words(all_roles(), ", "), ")");
        sites.sampling = sampling_ == "element"  ? SiteSampling::element
                         : sampling_ == "tensor" ? SiteSampling::tensor
                                                 : SiteSampling::stratified;
    }
    void check_how()
    {
        FlipRequest& flips = request_.flips;
        if (!bits_.empty()) flips.bits = parse_bits("--bits", bits_);
        base::check_within(1, 64, flips.burst, "--burst");
        if (!flips.mask.empty() && (flips.mask.find_first_not_of("01") != std::string::npos || flips.mask.size() > 64 ||
                                    flips.mask.find('1') == std::string::npos))
            base::fail_usage("--mask: '", flips.mask, "' is not a mask such as 101101");
        if (options.given("scale")) flips.scale = base::parsed<double>("--scale", scale_);
        flips.not_finite = not_finite_ == "allow"    ? NotFinite::allow
                           : not_finite_ == "redraw" ? NotFinite::redraw
                                                     : NotFinite::skip;
        std::string which;
        if (flips.scale && given_any({"bits", "burst", "mask", "sign", "bit-error-rate"}, which))
            base::fail_usage("--scale multiplies: --", which, " cannot be combined with it");
        if (!flips.mask.empty() && options.given("burst")) base::fail_usage("give only one of --mask and --burst");
        if (options.given("bit-error-rate") && given_any({"burst", "mask", "sampling"}, which))
            base::fail_usage("--bit-error-rate flips bits independently: --", which, " cannot be combined with it");
        if (options.given("bit-error-rate") && flips.not_finite == NotFinite::redraw)
            base::fail_usage(
                "--bit-error-rate flips bits independently: --not-finite redraw cannot be combined with it");
    }

    AlterRequest request_;
    std::string file_;
    std::string out_;
    std::string record_;
    std::string undo_;
    std::string replay_;
    std::string map_;
    bool in_place_ = false;
    bool list_ = false;
    std::int64_t flips_ = 1;
    std::string share_;
    std::string bit_error_rate_;
    std::string sampling_ = "element";
    std::string bits_;
    std::string scale_;
    std::string not_finite_ = "allow";
    std::string checksum_ = "follow";
};

class DifferenceCommand : public base::Command {
 public:
    DifferenceCommand() : Command{"ddl-alter difference", "compares two stored states, tensor by tensor and bit by bit"}
    {
        options.add_positional("FILE", files_, "two states, in any format of ddl-alter", 2, 2);
        options.group("Records");
        options.add("out", out_, "directory of difference.csv and bits.csv", "DIR");
        options.section(exit_codes());
        options.example("ddl-alter difference model.weights.h5 altered.h5 --out changed");
        options.see_also("ddl-alter(1), h5diff(1)");
    }

    int run() override
    {
        if (out_.empty()) base::fail_usage("needs --out DIR");
        for (const char* name : {"difference.csv", "bits.csv"})
            if (const auto path = std::filesystem::path{out_} / name; std::filesystem::exists(path))
                base::fail_taken(path);
        for (const std::string& file : files_)
            if (!std::filesystem::exists(file)) base::fail("there is no file ", file);
        const Difference difference = compare(files_.front(), files_.back());
        write(difference, out_);
        std::uint64_t differing = 0;
        std::uint64_t not_finite = 0;
        for (const TensorDifference& one : difference.tensors) {
            differing += one.differing;
            not_finite += one.not_finite;
        }
        std::cout << differing << " numbers differ in " << difference.tensors.size() << " tensors, " << not_finite
                  << " are not finite\n";
        for (const std::string& why : difference.left_out) base::warn("skipped: ", why);
        base::flush_stdout();
        return base::exit_fine;
    }

 private:
    std::vector<std::string> files_;
    std::string out_;
};

}  // namespace

}  // namespace soft_errors

int main(int argc, char** argv)
try {
    base::occupy_closed_streams();
    const base::Commands commands = base::commands<soft_errors::DifferenceCommand>();
    if (const auto code = base::run_command(commands, argc, argv)) return *code;
    soft_errors::Alter alter;
    for (const auto& command : commands) alter.options.command(command->options.manual());
    return alter.main(argc, argv);
} catch (...) {
    return base::report_failure("ddl-alter");
}
