// SPDX-License-Identifier: Apache-2.0
#include "base/cli/options.hpp"

#include "base/files.hpp"
#include "base/version.hpp"
#include "base/words.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <iostream>
#include <sstream>

namespace base {

namespace po = boost::program_options;

namespace {

void check_choice(const std::string& word, const std::vector<std::string>& choices)
{
    if (std::ranges::find(choices, word) == choices.end())
        fail_usage("'", word, "' is not one of ", join_words(choices, "|"), did_you_mean(word, choices));
}

}  // namespace

struct Options::Boost {
    po::options_description described;
    po::options_description hidden;
    po::positional_options_description positional;
    po::variables_map values;
};

Options::~Options() = default;
Options::Options(Options&&) noexcept = default;

Options::Options(std::string program, std::string summary) : boost_{std::make_unique<Boost>()}
{
    manual_.program = std::move(program);
    manual_.summary = std::move(summary);
    manual_.synopsis = "[options]";
    describe({.name = "help", .letter = "h", .help = "print this help and exit"}, nullptr);
    describe({.name = "version", .help = "print the version and exit"}, nullptr);
    describe({.name = "config", .value = "FILE.ini", .help = "read options from a file: name = value, one a line"},
             po::value<std::string>());
    boost_->hidden.add_options()("man", "print the man page and exit")("completion", po::value<std::string>(),
                                                                       "print the shell completion (bash) and exit");
}

// Without `value` the option is a switch, found by its name.
void Options::describe(OptionText text, const po::value_semantic* value)
{
    const std::string name = text.letter.empty() ? text.name : text.name + "," + text.letter;
    if (value == nullptr)
        boost_->described.add_options()(name.c_str(), "");
    else
        boost_->described.add_options()(name.c_str(), value, "");
    manual_.options.push_back(std::move(text));
}

void Options::add_text(OptionText text, std::function<void(const std::string&)> take)
{
    if (const std::size_t comma = text.name.find(','); comma != std::string::npos) {
        text.letter = text.name.substr(comma + 1);
        text.name.resize(comma);
    }
    auto checked = [name = text.name, take = std::move(take)](const std::string& given) {
        try {
            take(given);
        } catch (const UsageError& error) {
            fail_usage("--", name, ": ", error.what());
        }
    };
    describe(std::move(text), po::value<std::string>()->notifier(std::move(checked)));
}

void Options::add(const std::string& name, std::vector<std::string>& values, const std::string& help,
                  const std::string& value)
{
    describe({.group = group_, .name = name, .value = value, .help = help, .several = true},
             po::value<std::vector<std::string>>(&values)->multitoken()->composing());
}

void Options::add_switch(const std::string& name, bool& variable, const std::string& help)
{
    describe({.group = group_, .name = name, .help = help}, po::bool_switch(&variable));
}

void Options::add_switch(const std::string& name, const std::string& help)
{
    describe({.group = group_, .name = name, .help = help}, po::bool_switch());
}

void Options::add_word(const std::string& name, const std::string& default_text, const std::string& help,
                       const std::string& value)
{
    describe({.group = group_, .name = name, .value = value, .help = help, .default_text = default_text},
             po::value<std::string>());
}

void Options::add_words(const std::string& name, const std::string& help, const std::string& value)
{
    describe({.group = group_, .name = name, .value = value, .help = help, .several = true},
             po::value<std::vector<std::string>>()->multitoken()->composing());
}

void Options::add_choice(const std::string& name, std::string& variable, std::vector<std::string> choices,
                         const std::string& help)
{
    add_choice(name, variable, std::move(choices), help, [&variable](const std::string& text) { variable = text; });
}

void Options::add_choice(const std::string& name, const std::string& default_text, std::vector<std::string> choices,
                         const std::string& help)
{
    add_choice(name, default_text, std::move(choices), help, [](const std::string&) {});
}

void Options::add_choice(const std::string& name, const std::string& default_text, std::vector<std::string> choices,
                         const std::string& help, std::function<void(const std::string&)> take)
{
    add_text({.group = group_,
              .name = name,
              .value = "WORD",
              .help = help + ": " + join_words(choices, "|"),
              .default_text = default_text,
              .choices = choices},
             [take = std::move(take), choices](const std::string& text) {
                 check_choice(text, choices);
                 take(text);
             });
}

void Options::add_positional(const std::string& name, std::string& value, const std::string& help)
{
    auto take = [&value](const std::vector<std::string>& words) { value = words.front(); };
    describe_positional(name, po::value<std::vector<std::string>>()->notifier(std::move(take)), help, 1, 1);
}

void Options::add_positional(const std::string& name, std::vector<std::string>& values, const std::string& help,
                             std::size_t least, std::size_t most)
{
    describe_positional(name, po::value<std::vector<std::string>>(&values), help, least, most);
}

void Options::add_positional_choice(const std::string& name, const std::vector<std::string>& choices, TakeWords take)
{
    auto checked = [choices, take = std::move(take)](const std::vector<std::string>& words) {
        for (const std::string& word : words) check_choice(word, choices);
        take(words);
    };
    describe_positional(name, po::value<std::vector<std::string>>()->notifier(std::move(checked)),
                        join_words(choices, ", ") + "; by default all", 0, any_number);
}

void Options::describe_positional(const std::string& name, const po::value_semantic* value, const std::string& help,
                                  std::size_t least, std::size_t most)
{
    boost_->hidden.add_options()(name.c_str(), value, "");
    boost_->positional.add(name.c_str(), -1);
    manual_.positional = name;
    positional_help_ = help;
    positional_least_ = least;
    positional_most_ = most;
    const std::string words = most == any_number ? name + "..." : name;
    manual_.synopsis = "[options] " + (least == 0 ? "[" + words + "]" : words);
}

std::vector<std::string> Options::names() const
{
    std::vector<std::string> names;
    for (const OptionText& option : manual_.options) names.push_back("--" + option.name);
    return names;
}

namespace {

constexpr unsigned line_length = 100;

void print_options(std::ostream& out, const Manual& manual)
{
    po::options_description all{line_length, line_length / 2};
    for (const OptionGroup& group : option_groups(manual)) {
        po::options_description one{group.title, line_length, line_length / 2};
        for (const OptionText& option : group.options) {
            const std::string name = option.letter.empty() ? option.name : option.name + "," + option.letter;
            std::string help = option.help;
            if (!option.default_text.empty()) help += " (default " + option.default_text + ")";
            if (option.value.empty())
                one.add_options()(name.c_str(), help.c_str());
            else
                one.add_options()(name.c_str(), po::value<std::string>()->value_name(option.value), help.c_str());
        }
        all.add(one);
    }
    out << all;
}

// Prints entries in two columns; long text continues on the next line.
void print_section(std::ostream& out, const Section& section)
{
    constexpr std::size_t indent = 2;
    std::size_t width = 0;
    for (const Entry& entry : section.entries) width = std::max(width, entry.term.size());
    width = std::min<std::size_t>(width, line_length / 2);
    out << "\n" << section.title << ":\n";
    if (!section.text.empty()) out << wrapped(section.text, indent, line_length);
    for (const Entry& entry : section.entries) {
        const std::string term = std::string(indent, ' ') + entry.term;
        const std::size_t column = indent + width + 2;
        std::string text = wrapped(entry.text, column, line_length);
        if (term.size() + 2 <= column)
            text.replace(0, term.size(), term);
        else
            out << term << "\n";
        out << text;
    }
}

}  // namespace

std::string Options::help() const
{
    std::ostringstream text;
    text << manual_.program << ": " << manual_.summary << "\n\nUsage: " << manual_.program << " " << manual_.synopsis;
    if (!manual_.commands.empty()) text << "\n       " << manual_.program << " COMMAND ...";
    text << "\n";
    if (!manual_.positional.empty())
        text << "\n" << wrapped(manual_.positional + ": " + positional_help_, 2, line_length);
    if (!manual_.commands.empty()) {
        Section commands = commands_section(manual_);
        commands.title += " (each has its own --help)";
        print_section(text, commands);
    }
    print_options(text, manual_);
    for (const Section& section : manual_.sections)
        if (section.in_help) print_section(text, section);
    if (!manual_.examples.empty()) text << "\nExamples:\n";
    for (const std::string& line : manual_.examples) text << "  " << line << "\n";
    if (!manual_.epilogue.empty()) text << "\n" << wrapped(manual_.epilogue, 0, line_length);
    return text.str();
}

bool Options::print_what_is_asked_for()
{
    if (boost_->values.count("help") != 0) {
        std::cout << help();
    } else if (boost_->values.count("version") != 0) {
        std::cout << manual_.program << " " << version() << "\n";
    } else if (boost_->values.count("man") != 0) {
        std::cout << man_page(manual_);
    } else if (boost_->values.count("completion") != 0) {
        const std::string shell = boost_->values["completion"].as<std::string>();
        if (shell != "bash") fail_usage("--completion: only bash is supported, not ", shell);
        if (command_word(manual_) != manual_.program)
            fail_usage("--completion: give it to ", manual_.program.substr(0, manual_.program.find(' ')),
                       ", whose completion covers all commands");
        std::cout << bash_completion(manual_);
    } else {
        return false;
    }
    flush_stdout();
    return true;
}

namespace {

std::string config_text(const std::string& path)
try {
    return read_whole(path);
} catch (const Error&) {
    fail_usage("cannot read the config file ", path);
}

// Boost replaces placeholders such as %option% in its messages by the user's text until none is left: forever if that
// text contains the placeholder. So names and lines with a % are refused before Boost sees them.
void check_names(int argc, char** argv)
{
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const std::string_view name = word.substr(0, word.find('='));
        if (name.starts_with("-") && name.find('%') != std::string_view::npos)
            throw po::unknown_option{std::string{name}};
    }
}

// Checks the lines of a config file, and rewinds it.
void check_settings(std::istringstream& file, const std::string& path)
{
    std::string text;
    for (std::size_t number = 1; std::getline(file, text); ++number) {
        const std::string_view line = trim(std::string_view{text}.substr(0, text.find('#')));
        const bool section = line.starts_with("[") && line.ends_with("]");
        const std::string_view name = trim(line.substr(0, line.find('=')));
        const bool setting = !name.empty() && name.size() < line.size() && name.find('%') == std::string_view::npos;
        if (!line.empty() && !section && !setting)
            fail_usage(path, " line ", number, ": '", printable(line), "' is not NAME = VALUE");
    }
    file.clear();
    file.seekg(0);
}

}  // namespace

bool Options::parse(int argc, char** argv)
try {
    boost_->values.clear();
    po::options_description all;
    all.add(boost_->described).add(boost_->hidden);
    namespace style = po::command_line_style;
    const auto exact = static_cast<style::style_t>(style::unix_style & ~style::allow_guessing);
    check_names(argc, argv);
    po::store(po::command_line_parser(argc, argv).options(all).positional(boost_->positional).style(exact).run(),
              boost_->values);
    if (print_what_is_asked_for()) return false;
    if (boost_->values.count("config") != 0) {
        const std::string path = boost_->values["config"].as<std::string>();
        std::istringstream file{config_text(path)};
        check_settings(file, path);
        po::store(po::parse_config_file(file, all), boost_->values);
    }
    const auto words = boost_->values.find(manual_.positional);
    const std::size_t count = words == boost_->values.end() ? 0 : words->second.as<std::vector<std::string>>().size();
    if (count > positional_most_)
        fail_usage("takes ", positional_most_ == 1 ? "one " : "", manual_.positional, ", not ", count, " words");
    po::notify(boost_->values);
    if (count < positional_least_) fail_usage("expects ", manual_.positional, " (", manual_.program, " --help)");
    return true;
} catch (const po::unknown_option& error) {
    std::string wrong = error.get_option_name();
    if (!wrong.starts_with("-")) wrong = "--" + wrong;
    fail_usage("no option '", wrong, "'", did_you_mean(wrong, names()), " (", manual_.program, " --help shows all)");
} catch (const po::too_many_positional_options_error&) {
    fail_usage("takes options only, no other words (", manual_.program, " --help shows all)");
} catch (const po::error& error) {
    fail_usage(error.what());
}

bool Options::given(const std::string& name) const
{
    const auto found = boost_->values.find(name);
    return found != boost_->values.end() && !found->second.empty() && !found->second.defaulted();
}

const std::string& Options::text(const std::string& name) const
{
    if (given(name)) return boost_->values[name].as<std::string>();
    return std::find_if(manual_.options.begin(), manual_.options.end(),
                        [&](const OptionText& option) { return option.name == name; })
        ->default_text;
}

bool Options::is_on(const std::string& name) const
{
    return boost_->values[name].as<bool>();
}

std::vector<std::string> Options::texts(const std::string& name) const
{
    return given(name) ? boost_->values[name].as<std::vector<std::string>>() : std::vector<std::string>{};
}

}  // namespace base
