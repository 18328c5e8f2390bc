// SPDX-License-Identifier: Apache-2.0
// ddl-data: makes data sets of any size, converts them from format to format, and says what lies in a file or folder.
#include "base/cli/commands.hpp"
#include "base/cli/progress.hpp"
#include "base/error.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "ddl-workloads/data/conversion.hpp"
#include "ddl-workloads/data/data_set.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

namespace {

constexpr auto name = "ddl-data";

std::string words_of(const ddl::SampleShape& shape)
{
    switch (shape.kind) {
        case ddl::SampleShape::Kind::text:
            return base::join("text, guessed from ", shape.length, " bytes");
        case ddl::SampleShape::Kind::clicks:
            return base::join("clicks, ", shape.dense, " features and ", shape.categories, " ids of ", shape.rows,
                              " rows");
        case ddl::SampleShape::Kind::image:
            break;
    }
    return base::join("images, ", shape.channels, "x", shape.height, "x", shape.width, ", ", shape.classes, " classes");
}

std::function<void(double)> shown(base::Progress& progress)
{
    return [&progress](double share) {
        if (base::stop_requested()) base::fail("stopped by a signal");
        if (progress.due()) progress.show(share, "");
    };
}

void write(const std::string& text, const std::string& format, const std::string& out)
{
    if (out.empty()) base::fail_usage("--out PATH is needed: the file or folder to write");
    ddl::Converted done;
    {
        base::Progress progress{"writing"};
        done = ddl::convert(text, format, out, shown(progress));
    }
    std::cout << done.train << " samples to train on and " << done.held_out << " held out: --data " << format
              << "[path=" << out << "]\n";
}

void add_output(base::Options& options, std::string& format, std::string& out)
{
    options.add_choice("to", format, ddl::formats(), "format that is written");
    options.add("out", out, "file (hdf5) or folder (the others) to write; must not be there yet", "FILE");
}

// "synthetic[samples=9,noise=5%]" with one more option.
std::string with_option(const std::string& text, const std::string& option, const std::string& value)
{
    base::PlugInText named = base::parse_plug_in(text);
    if (!named.options.emplace(option, value).second) base::fail_usage("--", option, ": ", text, " already says it");
    std::vector<std::string> options;
    for (const auto& [key, given] : named.options) options.push_back(base::join(key, "=", given));
    return named.name + "[" + base::join_words(options, ",") + "]";
}

class Generate : public base::Command {
 public:
    Generate() : Command{"ddl-data generate", "makes a learnable data set of any size, the same for the same seed"}
    {
        options.add_positional("SET", set_, "what is made: synthetic[noise=30%], clicks[rows=1000], digits");
        options.add("samples", samples_, "in all, held-out ones included; 0: as SET says");
        options.add("bytes", bytes_, "the same as a size: 2GiB");
        add_output(options, format_, out_);
        options.example("ddl-data generate synthetic --bytes 2GiB --to shards --out DIR");
    }

    int run() override
    {
        if (ddl::data_sets().find(base::parse_plug_in(set_).name).make == nullptr)
            base::fail_usage(set_, " is there already; ddl-data convert makes another format of it");
        if (samples_ != 0 && bytes_.count != 0) base::fail_usage("--samples and --bytes say the same: one of them");
        if (bytes_.count != 0) samples_ = bytes_.count / ddl::data_set(set_, {}).shape.record_bytes();
        if (samples_ < 0 || (bytes_.count != 0 && samples_ == 0)) base::fail_usage("not one sample has room");
        if (samples_ != 0) set_ = with_option(set_, "samples", std::to_string(samples_));
        write(set_, format_, out_);
        return base::exit_fine;
    }

 private:
    std::string set_;
    std::string format_ = "shards";
    std::string out_;
    std::int64_t samples_ = 0;
    base::Bytes bytes_;
};

class Convert : public base::Command {
 public:
    Convert() : Command{"ddl-data convert", "writes a data set in another format"}
    {
        options.add_positional("SET", set_, "as ddl-train --data takes it: digits, cifar10[path=DIR], text[path=FILE]");
        add_output(options, format_, out_);
        options.example("ddl-data convert digits --to mnist --out DIR");
        options.example("ddl-data convert text[path=FILE,length=256] --to hdf5 --out FILE.h5");
    }

    int run() override
    {
        write(set_, format_, out_);
        return base::exit_fine;
    }

 private:
    std::string set_;
    std::string format_ = "shards";
    std::string out_;
};

// A name that no file or folder here has.
bool names_data_set(const std::string& text)
{
    const auto& cards = ddl::data_sets().cards();
    return !std::filesystem::exists(text) &&
           std::any_of(cards.begin(), cards.end(), [&](const ddl::DataSetCard* card) { return card->name == text; });
}

void print_head(const ddl::DataSet& set)
{
    std::cout << "data set   " << set.text << "\n"
              << "samples    " << words_of(set.shape) << ", " << set.shape.record_bytes() << " bytes each\n";
}

// Returns the exit code.
int check_records(const std::string& text)
{
    ddl::Findings findings;
    {
        base::Progress progress{"checking"};
        findings = ddl::inspect(text, shown(progress));
    }
    for (const std::string& fault : findings.faults) std::cout << "fault      " << fault << "\n";
    std::cout << "corrupt    " << findings.corrupt << "\n";
    return findings.faults.empty() ? base::exit_fine : base::exit_failed;
}

class Info : public base::Command {
 public:
    Info() : Command{"ddl-data info", "says what lies in a file or folder"}
    {
        options.add_positional("PATH", given_, "file or folder, or a data set as ddl-train --data takes it");
        options.add_switch("check", check_,
                           "read every record and say which are corrupt; exit code 1 if there are any");
    }

    int run() override
    {
        const std::string text = given_.ends_with(']') || names_data_set(given_) ? given_ : ddl::recognise(given_);
        const ddl::DataSet set = ddl::data_set(text, {});
        if (ddl::data_sets().find(base::parse_plug_in(text).name).make != nullptr) return describe_made(set);
        const ddl::Reading reading{.skip_corrupt = true};
        const std::int64_t train = ddl::open_part(set, ddl::Part::train, reading)->records();
        const std::int64_t held_out = ddl::open_part(set, ddl::Part::held_out, reading)->records();
        print_head(set);
        std::cout << "train      " << train << "\n"
                  << "held out   " << held_out << "\n";
        if (check_) return check_records(text);
        for (const std::string& fault : ddl::open_part(set, ddl::Part::train, reading)->faults())
            std::cout << "fault      " << fault << "\n";
        return base::exit_fine;
    }

 private:
    int describe_made(const ddl::DataSet& set) const
    {
        if (check_) base::fail_usage(set.text, " is made for each training: there are no files to check");
        print_head(set);
        std::cout << "in all     " << ddl::samples_in(set.text) << ", made for each training; a fifth is held out\n";
        return base::exit_fine;
    }

    std::string given_;
    bool check_ = false;
};

int run(int argc, char** argv)
{
    bool list = false;
    bool json = false;
    base::Options options{name, "data sets for ddl-train: made, converted, looked into"};
    options.add_switch("list", list, "show all data sets and formats, and end");
    options.add_switch("json", json, "with --list: as JSON");
    return base::run_program(options, base::commands<Generate, Convert, Info>(), argc, argv, [&] {
        if (list) base::list(std::cout, {ddl::data_sets().catalogue()}, json);
        return list;
    });
}

}  // namespace

int main(int argc, char** argv)
try {
    base::stop_on_signals();
    const int code = run(argc, argv);
    base::flush_stdout();
    return code;
} catch (...) {
    return base::report_failure(name);
}
