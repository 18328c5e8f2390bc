// SPDX-License-Identifier: Apache-2.0
// A table of numbers that may have more rows than fit into memory.
#pragma once

#include "base/columns/long_column.hpp"

#include <Eigen/Dense>

#include <span>
#include <vector>

namespace analysis {

class LongTable {
 public:
    LongTable() = default;
    template <class Derived>
    LongTable(const Eigen::MatrixBase<Derived>& all)
    {
        const Eigen::MatrixXd values = all;
        resize(values.rows(), values.cols());
        for (Eigen::Index c = 0; c < cols(); ++c)
            for (Eigen::Index i = 0; i < rows(); ++i) (*this)(i, c) = values(i, c);
    }

    Eigen::Index rows() const { return rows_; }
    Eigen::Index cols() const { return static_cast<Eigen::Index>(columns_.size()); }
    bool empty() const { return rows() == 0 || cols() == 0; }
    double operator()(Eigen::Index row, Eigen::Index column) const
    {
        return columns_[static_cast<std::size_t>(column)][static_cast<std::size_t>(row)];
    }
    double& operator()(Eigen::Index row, Eigen::Index column)
    {
        return columns_[static_cast<std::size_t>(column)][static_cast<std::size_t>(row)];
    }

    // Keeps existing values; new values are zero.
    void resize(Eigen::Index rows, Eigen::Index cols)
    {
        rows_ = rows;
        columns_.resize(static_cast<std::size_t>(cols));
        for (base::LongColumn<double>& column : columns_) column.resize(static_cast<std::size_t>(rows));
    }
    void append_row(std::span<const double> values)
    {
        columns_.resize(values.size());
        for (std::size_t c = 0; c < values.size(); ++c) columns_[c].push_back(values[c]);
        ++rows_;
    }
    // Adds a column at the right; it has as many rows as the others.
    void append(base::LongColumn<double> column)
    {
        rows_ = static_cast<Eigen::Index>(column.size());
        columns_.push_back(std::move(column));
    }

    void keep_columns(const std::vector<bool>& kept)
    {
        std::vector<base::LongColumn<double>> left;
        for (std::size_t c = 0; c < columns_.size(); ++c)
            if (kept[c]) left.push_back(std::move(columns_[c]));
        columns_ = std::move(left);
    }

    // The whole table, for one that fits into memory.
    Eigen::MatrixXd all() const
    {
        Eigen::MatrixXd values(rows(), cols());
        for (Eigen::Index c = 0; c < cols(); ++c)
            for (Eigen::Index i = 0; i < rows(); ++i) values(i, c) = (*this)(i, c);
        return values;
    }

 private:
    Eigen::Index rows_ = 0;
    std::vector<base::LongColumn<double>> columns_;
};

}  // namespace analysis
