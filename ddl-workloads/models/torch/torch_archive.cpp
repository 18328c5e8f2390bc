// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch_archive.hpp"

#include "base/error.hpp"
#include "ddl-workloads/models/torch/torch_state.hpp"

#include <torch/torch.h>

#include <cstring>
#include <optional>

namespace ddl {

namespace {

// Runs `work`, whose errors of LibTorch become an Error of one line.
template <class Work>
auto by_torch(const char* what, const Work& work)
{
    try {
        return work();
    } catch (const c10::Error& error) {
        const std::string text = error.what_without_backtrace();
        base::fail(what, text.substr(0, text.find('\n')));
    }
}

ArchivedTensor archived(const torch::Tensor& tensor)
{
    const torch::Tensor whole = tensor.contiguous();
    const std::optional<ElementType> type = element_type(whole);
    if (!type) base::fail("holds a tensor of an element type that ddl-train does not write");
    ArchivedTensor one{.type = *type, .shape = whole.sizes().vec(), .bytes = {}};
    one.bytes.resize(whole.nbytes());
    if (!one.bytes.empty()) std::memcpy(one.bytes.data(), whole.data_ptr(), one.bytes.size());
    return one;
}

}  // namespace

std::vector<char> to_torch_archive(const std::map<std::string, std::string>& texts,
                                   std::span<const StateTensor> tensors)
{
    return by_torch("LibTorch cannot write: ", [&] {
        c10::Dict<std::string, std::string> head;
        for (const auto& [name, text] : texts) head.insert(name, text);
        c10::Dict<std::string, torch::Tensor> state;
        for (const StateTensor& tensor : tensors)
            state.insert(tensor.path, torch::from_blob(tensor.bytes.data(), tensor.shape, torch_type(tensor.type)));
        return torch::pickle_save(std::make_tuple(head, state));
    });
}

TorchArchive from_torch_archive(const std::vector<char>& bytes)
{
    return by_torch("LibTorch cannot read it: ", [&] {
        const torch::IValue value = torch::pickle_load(bytes);
        const auto& parts = value.toTupleRef().elements();
        if (parts.size() != 2) base::fail("is not a checkpoint of ddl-train");
        TorchArchive archive;
        for (const auto& entry : parts[0].toGenericDict())
            archive.texts[entry.key().toStringRef()] = entry.value().toStringRef();
        for (const auto& entry : parts[1].toGenericDict())
            archive.tensors[entry.key().toStringRef()] = archived(entry.value().toTensor());
        return archive;
    });
}

}  // namespace ddl
