// NumPy arrays that own their memory, and states as bytes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "games/text.hpp"

namespace zermelo::bindings {

namespace nb = nanobind;

// Throws what Python sees as a plain ValueError: arguments that no correct program passes.
template <class... Parts>
[[noreturn]] void misuse(const Parts&... parts) {
  throw std::invalid_argument(sentence_of(parts...));
}

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

// A state's value as bytes, for pickling: the game's own form where it has one (chess leaves unused
// history uninitialised), else its memory, which holds no pointers.
template <class G>
nb::bytes state_bytes(const G& game, const typename G::State& state) {
  if constexpr (requires { game.state_bytes(state); }) {
    const std::string bytes = game.state_bytes(state);
    return nb::bytes(bytes.data(), bytes.size());
  } else {
    return nb::bytes(reinterpret_cast<const char*>(&state), sizeof(state));
  }
}

template <class G>
typename G::State state_from_bytes(const G& game, const nb::bytes& bytes) {
  if constexpr (requires { game.state_from_bytes(std::string_view()); }) {
    return game.state_from_bytes({bytes.c_str(), bytes.size()});
  } else {
    typename G::State state = game.initial();
    if (bytes.size() != sizeof(state)) {
      fail("a pickled state has ", bytes.size(), " bytes, not ", sizeof(state));
    }
    std::memcpy(static_cast<void*>(&state), bytes.data(), sizeof(state));
    return state;
  }
}

}  // namespace zermelo::bindings
