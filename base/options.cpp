#include "base/options.hpp"

#include "base/files.hpp"
#include "base/version.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>

namespace base {

namespace po = boost::program_options;

Options::Options(std::string program, std::string summary)
    : program_{std::move(program)}, summary_{std::move(summary)}, described_{"Options", 110, 70}
{
    described_.add_options()("help,h", "print this and end")("version", "print the version and end")(
        "config", po::value<std::string>()->value_name("FILE.ini"),
        "read options from a file: name = value, one a line");
}

void Options::add_text(const std::string& name, const std::string& default_text, const std::string& help,
                       std::function<void(const std::string&)> take)
{
    auto checked = [name, take = std::move(take)](const std::string& text) {
        try {
            take(text);
        } catch (const UsageError& error) {
            fail_usage("--", name, ": ", error.what());
        }
    };
    auto* value = po::value<std::string>()->value_name("VALUE")->notifier(std::move(checked));
    const std::string shown = default_text.empty() ? help : help + " (default " + default_text + ")";
    described_.add_options()(name.c_str(), value, shown.c_str());
}

void Options::add(const std::string& name, std::vector<std::string>& values, const std::string& help)
{
    auto* value = po::value<std::vector<std::string>>(&values)->value_name("VALUE...")->multitoken()->composing();
    described_.add_options()(name.c_str(), value, help.c_str());
}

void Options::add_switch(const std::string& name, bool& variable, const std::string& help)
{
    described_.add_options()(name.c_str(), po::bool_switch(&variable), help.c_str());
}

void Options::add_choice(const std::string& name, std::string& variable, std::vector<std::string> choices,
                         const std::string& help)
{
    const std::string all = join_words(choices, "|");
    add_text(name, variable, help + ": " + all, [&variable, choices, all](const std::string& text) {
        if (std::find(choices.begin(), choices.end(), text) == choices.end())
            fail_usage("'", text, "' is none of ", all, did_you_mean(text, choices));
        variable = text;
    });
}

void Options::add_positional(const std::string& name, std::vector<std::string>& values, const std::string& help,
                             std::size_t least)
{
    hidden_.add_options()(name.c_str(), po::value<std::vector<std::string>>(&values));
    positional_.add(name.c_str(), -1);
    positional_name_ = name;
    positional_help_ = help;
    positional_least_ = least;
}

std::vector<std::string> Options::names() const
{
    std::vector<std::string> names;
    for (const auto& option : described_.options()) names.push_back("--" + option->long_name());
    return names;
}

std::string Options::help() const
{
    std::ostringstream text;
    text << program_ << ": " << summary_ << "\n\nUsage: " << program_ << " [options]";
    if (!positional_name_.empty()) text << " " << positional_name_ << "...\n\n  " << positional_help_;
    text << "\n\n" << described_;
    if (!examples_.empty()) text << "\nExamples:\n";
    for (const std::string& line : examples_) text << "  " << line << "\n";
    if (!epilogue_.empty()) text << "\n" << epilogue_ << "\n";
    return text.str();
}

namespace {

std::string config_text(const std::string& path)
try {
    return read_whole(path);
} catch (const Error&) {
    fail_usage("cannot read the config file ", path);
}

}  // namespace

bool Options::parse(int argc, char** argv)
try {
    values_.clear();
    po::options_description all;
    all.add(described_).add(hidden_);
    namespace style = po::command_line_style;
    const auto words = static_cast<style::style_t>(style::unix_style & ~style::allow_guessing);
    po::store(po::command_line_parser(argc, argv).options(all).positional(positional_).style(words).run(), values_);
    if (values_.count("help") != 0) {
        std::cout << help();
        return false;
    }
    if (values_.count("version") != 0) {
        std::cout << program_ << " " << version() << "\n";
        return false;
    }
    if (values_.count("config") != 0) {
        const std::string path = values_["config"].as<std::string>();
        std::istringstream file{config_text(path)};
        po::store(po::parse_config_file(file, all), values_);
    }
    po::notify(values_);
    if (positional_least_ > 0) {
        const auto found = values_.find(positional_name_);
        const std::size_t count = found == values_.end() ? 0 : found->second.as<std::vector<std::string>>().size();
        if (count < positional_least_) fail_usage("expects ", positional_name_, " (", program_, " --help)");
    }
    return true;
} catch (const po::unknown_option& error) {
    std::string wrong = error.get_option_name();
    if (!wrong.starts_with("-")) wrong = "--" + wrong;
    fail_usage("no option '", wrong, "'", did_you_mean(wrong, names()), " (", program_, " --help shows all)");
} catch (const po::too_many_positional_options_error&) {
    fail_usage("takes options only, no other words (", program_, " --help shows all)");
} catch (const po::error& error) {
    fail_usage(error.what());
}

bool Options::given(const std::string& name) const
{
    const auto found = values_.find(name);
    return found != values_.end() && !found->second.empty() && !found->second.defaulted();
}

}  // namespace base
