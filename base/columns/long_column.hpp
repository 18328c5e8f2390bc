// SPDX-License-Identifier: Apache-2.0
// A column of values that may be longer than memory. Its first page, its last page and the page used most recently are
// in memory, the others on disk.
#pragma once

#include "base/columns/scratch_pages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace base {

// Read it more or less in order: each jump to another page reads a page. A reference to a value is valid until the next
// access. Only one thread at a time may use a column, even to read it. Throws std::system_error if the disk is full.
template <class T>
class LongColumn {
    static_assert(std::is_trivially_copyable_v<T>);
    static constexpr std::size_t per_page = scratch::page_bytes / sizeof(T);
    static constexpr std::size_t no_page = SIZE_MAX;

 public:
    using value_type = T;

    LongColumn() = default;
    LongColumn(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
    LongColumn(const std::vector<T>& values) { assign(values.begin(), values.end()); }
    LongColumn(const LongColumn& other) { assign(other.begin(), other.end()); }
    LongColumn(LongColumn&& other) noexcept { swap(other); }
    LongColumn& operator=(LongColumn other) noexcept
    {
        swap(other);
        return *this;
    }
    ~LongColumn() { free_pages(); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    void push_back(const T& value)
    {
        if (size_ > 0 && size_ % per_page == 0) store_last();
        std::vector<T>& last = size_ < per_page ? first_ : last_;
        last.push_back(value);
        ++size_;
    }

    T operator[](std::size_t i) const
    {
        const std::size_t page = i / per_page;
        return in_memory(page)[i % per_page];
    }
    T& operator[](std::size_t i)
    {
        const std::size_t page = i / per_page;
        std::vector<T>& values = in_memory(page);
        altered_ = altered_ || &values == &window_;
        return values[i % per_page];
    }
    T front() const { return first_.front(); }
    T back() const { return size_ <= per_page ? first_.back() : last_.back(); }

    template <class Iterator>
    void assign(Iterator first, Iterator last)
    {
        clear();
        for (; first != last; ++first) push_back(*first);
    }
    void resize(std::size_t size, const T& value = {})
    {
        if (size < size_) {
            LongColumn kept;
            for (std::size_t i = 0; i < size; ++i) kept.push_back(std::as_const(*this)[i]);
            swap(kept);
        }
        while (size_ < size) push_back(value);
    }
    void clear() { LongColumn{}.swap(*this); }

    void swap(LongColumn& other) noexcept
    {
        std::swap(size_, other.size_);
        std::swap(pages_, other.pages_);
        std::swap(first_, other.first_);
        std::swap(last_, other.last_);
        std::swap(window_, other.window_);
        std::swap(in_window_, other.in_window_);
        std::swap(altered_, other.altered_);
    }

    class Iterator {
     public:
        using iterator_category = std::random_access_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = const T*;
        using reference = T;

        Iterator() = default;
        Iterator(const LongColumn* column, std::size_t at) : column_{column}, at_{static_cast<difference_type>(at)} {}
        T operator*() const { return (*column_)[static_cast<std::size_t>(at_)]; }
        T operator[](difference_type by) const { return *(*this + by); }
        Iterator& operator+=(difference_type by)
        {
            at_ += by;
            return *this;
        }
        Iterator& operator-=(difference_type by) { return *this += -by; }
        Iterator& operator++() { return *this += 1; }
        Iterator& operator--() { return *this += -1; }
        Iterator operator++(int) { return std::exchange(*this, *this + 1); }
        Iterator operator--(int) { return std::exchange(*this, *this - 1); }
        friend Iterator operator+(Iterator a, difference_type by) { return a += by; }
        friend Iterator operator-(Iterator a, difference_type by) { return a -= by; }
        friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.at_ - b.at_; }
        friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
        friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.at_ <=> b.at_; }

     private:
        const LongColumn* column_ = nullptr;
        difference_type at_ = 0;
    };
    Iterator begin() const { return {this, 0}; }
    Iterator end() const { return {this, size_}; }

    friend bool operator==(const LongColumn& a, const LongColumn& b)
    {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

 private:
    // Called when the last page is full: writes it to disk, unless it is also the first page.
    void store_last()
    {
        if (size_ == per_page) {
            last_.reserve(per_page);
            return;
        }
        pages_.push_back(scratch::new_page());
        write(pages_.back(), last_);
        last_.clear();
    }

    std::vector<T>& in_memory(std::size_t page) const
    {
        if (page == 0) return first_;
        if (page == (size_ - 1) / per_page) return last_;
        if (page != in_window_) load(page);
        return window_;
    }

    void load(std::size_t page) const
    {
        if (altered_) write(pages_[in_window_ - 1], window_);
        altered_ = false;
        in_window_ = no_page;
        std::array<std::byte, scratch::page_bytes> bytes;
        scratch::read_page(pages_[page - 1], bytes.data());
        window_.resize(per_page);
        std::copy_n(bytes.data(), per_page * sizeof(T), reinterpret_cast<std::byte*>(window_.data()));
        in_window_ = page;
    }

    static void write(std::uint32_t page, const std::vector<T>& values)
    {
        std::array<std::byte, scratch::page_bytes> bytes{};
        std::copy_n(reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T), bytes.data());
        scratch::write_page(page, bytes.data());
    }

    void free_pages() noexcept
    {
        for (const std::uint32_t page : pages_) scratch::free_page(page);
    }

    std::size_t size_ = 0;
    std::vector<std::uint32_t> pages_;  // numbers of the second page, the third, ..
    mutable std::vector<T> first_;
    mutable std::vector<T> last_;  // empty while the first page is the last one
    mutable std::vector<T> window_;
    mutable std::size_t in_window_ = no_page;
    mutable bool altered_ = false;
};

}  // namespace base
