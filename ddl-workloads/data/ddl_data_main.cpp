// SPDX-License-Identifier: Apache-2.0
// ddl-data: generates data sets of any size, converts them between formats, and describes the contents of a file or
// folder.
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
            return base::join("text, predicted from ", shape.length, " bytes");
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
    if (out.empty()) base::fail_usage("give --out PATH, the file or folder to write");
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
    options.add_choice("to", format, ddl::formats(), "output format");
    options.add("out", out, "file (hdf5) or folder (others) to write; must not exist", "FILE");
}

// Adds an option to a name such as "synthetic[samples=9,noise=5%]".
std::string with_option(const std::string& text, const std::string& option, const std::string& value)
{
    base::PlugInText named = base::parse_plug_in(text);
    if (!named.options.emplace(option, value).second) base::fail_usage("--", option, ": ", text, " already sets it");
    std::vector<std::string> options;
    for (const auto& [key, given] : named.options) options.push_back(base::join(key, "=", given));
    return named.name + "[" + base::join_words(options, ",") + "]";
}

class Generate : public base::Command {
 public:
    Generate() : Command{"ddl-data generate", "generates a learnable data set of any size, reproducible by its seed"}
    {
        options.add_positional("SET", set_, "data set to generate: synthetic[noise=30%], clicks[rows=1000], digits");
        options.add("samples", samples_, "number of samples, including held-out ones; 0: as given in SET");
        options.add("bytes", bytes_, "the size instead: 2GiB");
        add_output(options, format_, out_);
        options.example("ddl-data generate synthetic --bytes 2GiB --to shards --out DIR");
    }

    int run() override
    {
        if (ddl::data_sets().find(base::parse_plug_in(set_).name).make == nullptr)
            base::fail_usage(set_, " already exists; ddl-data convert converts it to another format");
        if (samples_ != 0 && bytes_.count != 0) base::fail_usage("give only one of --samples and --bytes");
        if (bytes_.count != 0) samples_ = bytes_.count / ddl::data_set(set_, {}).shape.record_bytes();
        if (samples_ < 0 || (bytes_.count != 0 && samples_ == 0)) base::fail_usage("too small for one sample");
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
    Convert() : Command{"ddl-data convert", "converts a data set to another format"}
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

// True if the argument names a data set rather than a file or folder.
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

// Reads every record and prints the faults. Returns the exit code.
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
    Info() : Command{"ddl-data info", "describes the data set in a file or folder"}
    {
        options.add_positional("PATH", given_, "file or folder, or a data set as ddl-train --data takes it");
        options.add_switch("check", check_, "read every record and list corrupt ones; exit code 1 if there are any");
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
        if (check_) base::fail_usage(set.text, " is generated for each training: there are no files to check");
        print_head(set);
        std::cout << "in all     " << ddl::samples_in(set.text)
                  << ", generated for each training; a fifth is held out\n";
        return base::exit_fine;
    }

    std::string given_;
    bool check_ = false;
};

int run(int argc, char** argv)
{
    bool list = false;
    bool json = false;
    base::Options options{name, "generates, converts and inspects data sets for ddl-train"};
    options.add_switch("list", list, "list all data sets and formats, and exit");
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
