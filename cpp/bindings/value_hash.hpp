// 64 bits for Python values: what a game's states are told apart by when it has no hash of its own.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "base/random.hpp"

namespace zermelo::bindings {

namespace nb = nanobind;

inline std::uint64_t bytes_hash(const char* data, std::size_t size) {
  std::uint64_t hash = mix64(size + 0x9E3779B97F4A7C15ull);
  for (; size >= 8; data += 8, size -= 8) {
    std::uint64_t word;
    std::memcpy(&word, data, 8);
    hash = mix64(hash ^ word) + word;
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, data, size);
  return mix64(hash ^ rest);
}

// Equal values have equal hashes, in every process and on every machine: numbers, texts, bytes,
// arrays, and tuples, named tuples and dataclasses of them. Nothing for other objects.
// Caller: holds the interpreter's lock. Objects of its own, so that it never outlives them.
class ValueHash {
 public:
  ValueHash() : dumps_(nb::module_::import_("marshal").attr("dumps")), version_(nb::cast(2)) {}

  std::optional<std::uint64_t> operator()(nb::handle value) const {
    if (PyTuple_CheckExact(value.ptr())) return plain(value);
    if (PyTuple_Check(value.ptr())) return plain(nb::steal(PySequence_Tuple(value.ptr())));
    if (!nb::hasattr(value, "__dataclass_fields__")) return plain(value);
    nb::list fields;
    for (nb::handle name : value.attr("__dataclass_fields__"))
      fields.append(nb::getattr(value, name));
    return plain(nb::tuple(fields));
  }

 private:
  // Version 2 of the format writes equal values alike, whether or not they are one object.
  std::optional<std::uint64_t> plain(nb::handle value) const {
    PyObject* dumped =
        PyObject_CallFunctionObjArgs(dumps_.ptr(), value.ptr(), version_.ptr(), nullptr);
    if (dumped == nullptr) {
      if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw nb::python_error();
      PyErr_Clear();
      return std::nullopt;
    }
    const nb::bytes bytes = nb::steal<nb::bytes>(dumped);
    return bytes_hash(bytes.c_str(), bytes.size());
  }

  nb::object dumps_;
  nb::object version_;
};

}  // namespace zermelo::bindings
