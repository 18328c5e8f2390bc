// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/convert/repaired_json.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <utility>

namespace convert {

namespace {

constexpr std::size_t longest_string = 1 << 20;
constexpr std::size_t longest_word = 1024;  // longest number or literal (true, false, null)

// Characters of numbers and literals, including invalid ones such as N/A.
bool is_of_word(char letter)
{
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || std::strchr("+-./#()_", letter) != nullptr;
}

bool is_no_number(std::string_view word)
{
    const std::string lower = base::lower_case(word);
    const std::string_view text = std::string_view{lower}.substr(lower.starts_with('-') ? 1 : 0);
    return text == "n/a" || text == "inf" || text == "infinity" || text == "nan" || text.starts_with("nan(") ||
           text.starts_with("1.#");
}

// Length of the escape sequence at the beginning of `text`; 0: it is not a valid escape.
std::size_t length_of_escape(std::string_view text)
{
    if (text.size() < 2) return 0;
    if (text[1] != 'u') return std::strchr("\"\\/bfnrt", text[1]) != nullptr ? 2 : 0;
    const auto hexadecimal = [](char letter) { return std::isxdigit(static_cast<unsigned char>(letter)) != 0; };
    return text.size() >= 6 && std::all_of(text.begin() + 2, text.begin() + 6, hexadecimal) ? 6 : 0;
}

}  // namespace

std::string RepairedJson::place() const
{
    std::size_t line = line_;
    std::size_t column = column_;
    if (replaced_) {
        ++column;
    } else {
        for (const char* one = eback(); one != gptr(); ++one) {
            column = *one == '\n' ? 0 : column + 1;
            line += *one == '\n' ? 1 : 0;
        }
    }
    return base::join("line ", line, ", column ", std::max<std::size_t>(column, 1));
}

void RepairedJson::too_long(const char* what) const
{
    base::fail(file_.string(), " is not a valid trace: the ", what, " at line ", line_, " is too long");
}

void RepairedJson::step_over(std::size_t bytes)
{
    for (; bytes > 0; --bytes, ++at_) {
        const bool newline = bytes_[at_] == '\n';
        column_ = newline ? 0 : column_ + 1;
        line_ += newline ? 1 : 0;
    }
}

// Returns false at the end of the input.
bool RepairedJson::refill()
{
    if (ended_) return false;
    std::memmove(bytes_.data(), bytes_.data() + at_, filled_ - at_);
    filled_ -= at_;
    at_ = 0;
    const std::streamsize read =
        input_.rdbuf()->sgetn(bytes_.data() + filled_, static_cast<std::streamsize>(bytes_.size() - filled_));
    ended_ = read <= 0;
    filled_ += static_cast<std::size_t>(std::max<std::streamsize>(read, 0));
    return !ended_;
}

bool RepairedJson::replace(std::size_t bytes, std::string_view by)
{
    replacement_ = by;
    replaced_bytes_ = bytes;
    return true;
}

// End of the part of a string that can be passed on unchanged: the end of the string, or the place where a replacement
// or more input is needed.
std::size_t RepairedJson::sound_string_until(std::size_t from)
{
    std::size_t i = from;
    for (; i < filled_; ++length_) {
        if (length_ > longest_string) too_long("text");
        const auto letter = static_cast<unsigned char>(bytes_[i]);
        if (letter == '\\') {
            if (i + 6 > filled_ && !ended_) return i;
            const std::size_t escape = length_of_escape({bytes_.data() + i, filled_ - i});
            if (escape == 0 && replace(1, "\\\\")) return i;
            i += escape;
        } else if (letter < 0x20) {
            char text[8];
            std::snprintf(text, sizeof text, "\\u%04x", letter);
            replace(1, text);
            return i;
        } else if (++i; letter == '"') {
            in_string_ = false;
            return i;
        }
    }
    return i;
}

// The same for any part of the JSON.
std::size_t RepairedJson::sound_until(std::size_t from)
{
    std::size_t i = from;
    while (i < filled_ && replaced_bytes_ == 0) {
        if (in_string_) {
            const std::size_t end = sound_string_until(i);
            if (in_string_) return end;
            i = end;
        } else if (bytes_[i] == '"') {
            in_string_ = true;
            length_ = 0;
            ++i;
        } else if (is_of_word(bytes_[i])) {
            const char* const begin = bytes_.data() + i;
            const char* const end =
                std::find_if_not(begin, static_cast<const char*>(bytes_.data()) + filled_, is_of_word);
            const auto length = static_cast<std::size_t>(end - begin);
            if (length > longest_word) too_long("number");
            if (i + length == filled_ && !ended_) return i;
            if (is_no_number({begin, length}) && replace(length, "null")) return i;
            i += length;
        } else {
            ++i;
        }
    }
    return i;
}

RepairedJson::int_type RepairedJson::underflow()
{
    step_over(handed_);
    handed_ = 0;
    replaced_ = false;
    for (;;) {
        if (replaced_bytes_ > 0) {
            handed_ = std::exchange(replaced_bytes_, 0);
            replaced_ = true;
            ++repairs_;
            setg(replacement_.data(), replacement_.data(), replacement_.data() + replacement_.size());
            return traits_type::to_int_type(replacement_.front());
        }
        const std::size_t until = sound_until(at_);
        if (until > at_) {
            handed_ = until - at_;
            setg(bytes_.data() + at_, bytes_.data() + at_, bytes_.data() + until);
            return traits_type::to_int_type(bytes_[at_]);
        }
        if (replaced_bytes_ > 0) continue;
        if (!refill() && at_ == filled_) {
            setg(nullptr, nullptr, nullptr);
            return traits_type::eof();
        }
    }
}

}  // namespace convert
