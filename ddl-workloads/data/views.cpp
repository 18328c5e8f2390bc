// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/views.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace ddl {

namespace {

class Joined : public Records {
 public:
    explicit Joined(std::vector<std::unique_ptr<Records>> files)
        : Records{files.front()->shape()}, files_{std::move(files)}
    {
        for (const auto& file : files_) {
            ends_.push_back((ends_.empty() ? 0 : ends_.back()) + file->records());
            for (std::string& fault : file->faults()) faults_.push_back(std::move(fault));
        }
        set_records(ends_.back());
    }

    std::vector<std::string> faults() const override { return faults_; }
    bool past_page_cache() const override
    {
        return std::ranges::all_of(files_, [](const auto& file) { return file->past_page_cache(); });
    }

 private:
    void fetch(std::int64_t number, std::span<std::uint8_t> record) const override
    {
        const auto end = std::ranges::upper_bound(ends_, number);
        const std::int64_t begin = end == ends_.begin() ? 0 : *(end - 1);
        files_[static_cast<std::size_t>(end - ends_.begin())]->read(number - begin, record);
    }
    // Never used in messages: each joined file reports the place of its own records.
    std::string place(std::int64_t number) const override { return "record " + std::to_string(number); }

    std::vector<std::unique_ptr<Records>> files_;
    std::vector<std::int64_t> ends_;
    std::vector<std::string> faults_;
};

class Fifths : public Records {
 public:
    Fifths(std::unique_ptr<Records> all, Part part) : Records{all->shape()}, all_{std::move(all)}, part_{part}
    {
        const std::int64_t held_out = all_->records() / held_out_every;
        if (held_out == 0) base::fail(all_->records(), " records: too few to hold out every fifth");
        set_records(part == Part::held_out ? held_out : all_->records() - held_out);
    }

    std::vector<std::string> faults() const override { return all_->faults(); }
    bool past_page_cache() const override { return all_->past_page_cache(); }

 private:
    void fetch(std::int64_t number, std::span<std::uint8_t> record) const override
    {
        const std::int64_t group = held_out_every - 1;
        all_->read(part_ == Part::held_out ? number * held_out_every + group : number + number / group, record);
    }
    std::string place(std::int64_t number) const override { return "record " + std::to_string(number); }

    std::unique_ptr<Records> all_;
    Part part_;
};

}  // namespace

std::unique_ptr<Records> joined(std::vector<std::unique_ptr<Records>> files)
{
    if (files.size() == 1) return std::move(files.front());
    return std::make_unique<Joined>(std::move(files));
}

std::unique_ptr<Records> fifths(std::unique_ptr<Records> all, Part part)
{
    return std::make_unique<Fifths>(std::move(all), part);
}

}  // namespace ddl
