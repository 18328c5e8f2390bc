// SPDX-License-Identifier: Apache-2.0
// The data set `text`: the bytes of any file, for language models. The last tenth of the file is held out.
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/input_file.hpp"

namespace ddl {

namespace {

constexpr std::int64_t held_out_share = 10;

// Consecutive samples overlap by one byte: the last byte of each sample, which is only predicted, is the first of the
// next.
class Text : public Records {
 public:
    Text(const std::filesystem::path& path, std::int64_t length, Part part, Access access)
        : Records{text_shape(length)}, file_{path, access}
    {
        const std::int64_t train_bytes = file_.bytes() - file_.bytes() / held_out_share;
        begin_ = part == Part::train ? 0 : train_bytes;
        const std::int64_t held_out_bytes = file_.bytes() - train_bytes;
        set_records(((part == Part::train ? train_bytes : held_out_bytes) - 1) / length);
        if (held_out_bytes <= length)
            base::fail(path.string(), " is too short: ", file_.bytes(),
                       " bytes, of which a tenth is held out, do not hold a sample of ", length);
    }

    bool past_page_cache() const override { return file_.past_page_cache(); }

 private:
    std::int64_t offset(std::int64_t number) const { return begin_ + number * shape().length; }
    void fetch(std::int64_t number, std::span<std::uint8_t> record) const override
    {
        file_.read_whole(offset(number), record, "sample " + std::to_string(number));
    }
    std::string place(std::int64_t number) const override
    {
        return base::join(file_.path().string(), ", byte ", offset(number));
    }

    InputFile file_;
    std::int64_t begin_ = 0;
};

}  // namespace

extern const DataSetCard text_data{
    .name = "text",
    .summary = "the bytes of any file, for a language model; the last tenth is held out",
    .options = {{"path", "", "the file"}, {"length", "128", "bytes per sample"}},
    .shape =
        [](const base::Settings& settings) {
            if (settings.text("path").empty()) base::fail_usage("text: give path=FILE");
            const SampleShape shape = text_shape(settings.get<std::int64_t>("length"));
            return checked(shape);
        },
    .open = [](const base::Settings& settings, Part part, const Reading& reading) -> std::unique_ptr<Records> {
        return std::make_unique<Text>(settings.text("path"), settings.get<std::int64_t>("length"), part,
                                      reading.access);
    },
};

}  // namespace ddl
