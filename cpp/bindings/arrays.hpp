// NumPy arrays that own their memory, and states as bytes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>
#include <initializer_list>
#include <vector>

#include "games/text.hpp"

namespace zermelo::bindings {

namespace nb = nanobind;

template <class T>
class NewArray {
 public:
  explicit NewArray(std::vector<std::size_t> shape) : shape_(std::move(shape)) {
    std::size_t size = 1;
    for (const std::size_t extent : shape_) size *= extent;
    data_ = new T[size];
    owner_ = nb::capsule(data_, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  }
  T* data() { return data_; }
  nb::ndarray<nb::numpy, T> numpy() const {
    return nb::ndarray<nb::numpy, T>(data_, shape_.size(), shape_.data(), owner_);
  }

 private:
  std::vector<std::size_t> shape_;
  T* data_;
  nb::capsule owner_;
};

template <class T>
NewArray<T> new_array(std::vector<std::size_t> shape) {
  return NewArray<T>(std::move(shape));
}

// States hold no pointers, so their bytes are their value (games written in Python pickle their own
// states and do not come here).
template <class G>
nb::bytes state_bytes(const typename G::State& state) {
  return nb::bytes(reinterpret_cast<const char*>(&state), sizeof(state));
}

template <class G>
void set_state_bytes(typename G::State& state, const nb::bytes& bytes) {
  if (bytes.size() != sizeof(state)) fail("a pickled state has ", bytes.size(), " bytes, not ", sizeof(state));
  std::memcpy(static_cast<void*>(&state), bytes.data(), sizeof(state));
}

}  // namespace zermelo::bindings
