// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/drawing/roles.hpp"

#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace soft_errors {

namespace {

// "a/b.c:0" -> {"a", "b", "c"}, in lower case.
std::vector<std::string> words_of_path(const std::string& path)
{
    std::string lower = base::lower_case(path);
    std::replace(lower.begin(), lower.end(), '.', '/');
    std::vector<std::string> words = base::split(lower, '/');
    for (std::string& word : words) word = word.substr(0, word.find(':'));
    return words;
}

std::string module_of(const std::string& path)
{
    const std::size_t end = path.find_last_of("/.");
    return end == std::string::npos ? std::string{} : path.substr(0, end);
}

template <std::size_t Count>
bool is_one_of(const std::string& word, const std::array<std::string_view, Count>& words)
{
    return std::ranges::find(words, word) != words.end();
}

bool is_statistic(const std::string& word)
{
    return is_one_of<8>(word, {"moving_mean", "moving_variance", "running_mean", "running_var", "avg_mean", "avg_var",
                               "num_batches_tracked", "gamma"});
}

bool names_a_norm(const std::string& word)
{
    const auto holds = [&](const char* part) { return word.find(part) != std::string::npos; };
    const bool numbered_bn = word.starts_with("bn") && std::all_of(word.begin() + 2, word.end(), [](char c) {
                                 return (c >= '0' && c <= '9') || c == '_';
                             });
    return holds("batchnorm") || holds("batch_norm") || holds("layernorm") || holds("layer_norm") || word == "norm" ||
           numbered_bn;
}

std::string role_of(const NamedTensor& tensor, const std::set<std::string>& norms)
{
    const std::vector<std::string> words = words_of_path(tensor.path);
    const auto any = [&](const auto& holds) { return std::ranges::any_of(words, holds); };
    if (any([](const std::string& word) { return word.starts_with("optimizer"); })) return "optimizer";
    if (words.front() == "meta") return "other";
    if (norms.contains(module_of(tensor.path)) || any(names_a_norm) || is_statistic(words.back())) return "norm";
    if (is_one_of<3>(words.back(), {"bias", "b", "beta"})) return "bias";
    if (tensor.format.kind != NumberFormat::Kind::floating && tensor.format.bytes == 8) return "other";
    return tensor.shape.size() >= 2 || is_one_of<4>(words.back(), {"weight", "kernel", "w", "embeddings"}) ? "weight"
                                                                                                           : "bias";
}

}  // namespace

std::vector<std::string> roles_of(const NamedTensors& state)
{
    std::set<std::string> norms;
    for (const NamedTensor& tensor : state.tensors)
        if (is_statistic(words_of_path(tensor.path).back())) norms.insert(module_of(tensor.path));
    std::vector<std::string> roles;
    for (const NamedTensor& tensor : state.tensors) roles.push_back(role_of(tensor, norms));
    return roles;
}

const std::vector<std::string>& all_roles()
{
    static const std::vector<std::string> roles{"weight", "bias", "norm", "optimizer", "other"};
    return roles;
}

}  // namespace soft_errors
