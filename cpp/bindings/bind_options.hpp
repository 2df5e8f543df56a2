// Shows an option struct to Python by its table: constructor, properties, text, pickling.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"

namespace zermelo::bindings {

namespace nb = nanobind;

template <class S>
nb::dict row_dict(const Option<S>& row) {
  nb::dict out;
  out["name"] = nb::str(row.name.data(), row.name.size());
  out["default"] = get_option(S(), row);
  out["low"] = row.low;
  out["high"] = row.high;
  std::vector<std::string> choices(row.choices.begin(), row.choices.end());
  out["choices"] = choices;
  out["technique"] = std::string(row.technique);
  out["alphazero"] = std::string(row.alphazero);
  out["doc"] = std::string(row.doc);
  return out;
}

template <class S>
void set_all(S& options, std::span<const Option<S>> table, const nb::kwargs& values) {
  for (const auto& [key, value] : values) {
    const auto& row = find_option(table, nb::cast<std::string>(key));
    OptionValue typed;
    if (!nb::try_cast(value, typed)) {
      refuse_option(row.name, nb::cast<std::string>(nb::str(value)), "a number, text, on or off");
    }
    set_option(options, row, typed);
  }
}

// `table` lives as long as the program.
template <class S>
void bind_options(nb::module_& m, const char* name, const char* doc,
                  std::span<const Option<S>> table) {
  nb::class_<S> options(m, name, doc);
  options.def("__init__", [table](S* self, const nb::kwargs& values) {
    S made;
    set_all(made, table, values);
    new (self) S(made);
  });
  options.def(
      "replace",
      [table](const S& self, const nb::kwargs& values) {
        S copy = self;
        set_all(copy, table, values);
        return copy;
      },
      "A copy with some options changed.");
  options.def("to_dict", [table](const S& self) {
    nb::dict out;
    for (const auto& row : table) out[std::string(row.name).c_str()] = get_option(self, row);
    return out;
  });
  options.def("__eq__", [table](const S& a, nb::handle b) {
    if (!nb::isinstance<S>(b)) return false;
    const auto& other = nb::cast<const S&>(b);
    for (const auto& row : table) {
      if (get_option(a, row) != get_option(other, row)) return false;
    }
    return true;
  });
  options.def("__getstate__", [](nb::handle self) { return self.attr("to_dict")(); });
  options.def("__setstate__", [table](S& self, const nb::dict& values) {
    new (&self) S();
    for (const auto& [key, value] : values) {
      set_option(self, find_option(table, nb::cast<std::string>(key)),
                 nb::cast<OptionValue>(value));
    }
  });
  options.def("__repr__", [table, class_name = std::string(name)](const S& self) {
    std::string text = class_name + "(";
    const S defaults;
    for (const auto& row : table) {
      if (get_option(self, row) == get_option(defaults, row)) continue;
      const nb::object value = nb::cast(get_option(self, row));
      text +=
          (text.back() == '(' ? "" : ", ") + std::string(row.name) + "=" + nb::repr(value).c_str();
    }
    return text + ")";
  });
  options.def_static(
      "table",
      [table] {
        nb::list rows;
        for (const auto& row : table) rows.append(row_dict(row));
        return rows;
      },
      "One dict per option: name, default, range or choices, technique, AlphaZero's value, doc.");
  for (const auto& row : table) {
    options.def_prop_rw(
        std::string(row.name).c_str(), [&row](const S& self) { return get_option(self, row); },
        [&row](S& self, const OptionValue& value) { set_option(self, row, value); },
        std::string(row.doc).c_str());
  }
}

}  // namespace zermelo::bindings
