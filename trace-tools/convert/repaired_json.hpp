// SPDX-License-Identifier: Apache-2.0
// Turns JSON as some programs write it into valid JSON: PyTorch 1.9 to 2.4 wrote paths with single backslashes, control
// characters in strings, and N/A, nan and inf as numbers.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <istream>
#include <streambuf>
#include <string>
#include <string_view>

namespace convert {

// A stream buffer that repairs what it reads: a backslash that begins no escape is doubled, a control character in a
// string is escaped, and a bare N/A, nan or inf becomes null. Everything else is unchanged. Throws Error for a string
// or number that is longer than any in a real trace.
class RepairedJson : public std::streambuf {
 public:
    // Both must outlive this object; errors name `file`.
    RepairedJson(std::istream& input, const std::filesystem::path& file) : input_{input}, file_{file} {}

    std::string place() const;  // place of the last character read, such as "line 2, column 17"
    bool ended() const { return ended_ && at_ == filled_ && gptr() == egptr(); }
    std::size_t repairs() const { return repairs_; }

 private:
    int_type underflow() override;
    bool refill();
    void step_over(std::size_t bytes);
    std::size_t sound_until(std::size_t from);
    std::size_t sound_string_until(std::size_t from);
    bool replace(std::size_t bytes, std::string_view by);
    void too_long(const char* what) const;

    std::istream& input_;
    const std::filesystem::path& file_;
    std::array<char, 1 << 16> bytes_{};
    std::size_t at_ = 0;      // index of the first byte not yet passed on
    std::size_t filled_ = 0;  // number of valid bytes in bytes_
    std::size_t handed_ = 0;  // number of input bytes in the current get area
    bool replaced_ = false;   // the get area is replacement_
    bool ended_ = false;      // the input has ended
    bool in_string_ = false;  // true if at_ is within a string
    std::size_t length_ = 0;  // of the current string so far
    std::size_t line_ = 1;    // line of at_
    std::size_t column_ = 0;  // characters before at_ in its line
    std::string replacement_;
    std::size_t replaced_bytes_ = 0;  // input bytes that replacement_ replaces
    std::size_t repairs_ = 0;
};

}  // namespace convert
