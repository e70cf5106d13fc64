// Results of the engine as numpy arrays that own them: no copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "batch.hpp"

namespace hexdata {

// A width of 0 is a plain column.
template <typename T>
nanobind::object to_numpy(Column<T>&& column, std::size_t rows, std::size_t width) {
    T* data = column.data.release();
    const nanobind::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    if (width == 0) return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(data, {rows}, owner));
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(data, {rows, width}, owner));
}

template <typename T>
nanobind::object to_numpy(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    const nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(kept->data(), {kept->size()}, owner));
}

}  // namespace hexdata
