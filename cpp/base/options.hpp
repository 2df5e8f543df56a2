// Options are typed once: a struct holds the defaults, one table beside it the name, range and
// text. From the table come the Python constructor, validation, file keys, flags and the docs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/refused.hpp"

namespace zermelo {

using OptionValue = std::variant<bool, std::int64_t, double, std::string>;

// One row. Choices make the member an index into them; then low and high do not count.
template <class S>
struct Option {
  std::string_view name;
  std::variant<bool S::*, std::int64_t S::*, double S::*> member;
  double low = 0;   // inclusive, for numbers
  double high = 1;  // inclusive, for numbers
  std::vector<std::string_view> choices = {};
  std::string_view technique;  // id in docs/techniques.md, "S2"
  std::string_view alphazero;  // what AlphaZero used
  std::string_view doc;
};

// The name in `names` that is nearest to `text` by edit distance.
std::string nearest_name(std::string_view text, std::span<const std::string_view> names);

// Throws Refused: the option, the value, and what is allowed.
[[noreturn]] void refuse_option(std::string_view name, const OptionValue& value,
                                const std::string& allowed);

namespace detail {
std::optional<bool> as_bool(const OptionValue& value);
std::optional<std::int64_t> as_integer(const OptionValue& value);
std::optional<double> as_number(const OptionValue& value);
std::string range_text(double low, double high);
}  // namespace detail

template <class S>
const Option<S>& find_option(std::span<const Option<S>> table, std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& row : table) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  throw Refused("there is no option '" + std::string(name) + "'; the nearest is '" +
                nearest_name(name, names) + "'");
}

// Accepts the member's own type or text that spells it ("on", "off", "0.5").
template <class S>
void set_option(S& options, const Option<S>& row, const OptionValue& value) {
  if (const auto* flag = std::get_if<bool S::*>(&row.member)) {
    const auto parsed = detail::as_bool(value);
    if (!parsed) refuse_option(row.name, value, "on or off");
    options.*(*flag) = *parsed;
  } else if (const auto* integer = std::get_if<std::int64_t S::*>(&row.member)) {
    if (!row.choices.empty()) {
      const auto* text = std::get_if<std::string>(&value);
      for (std::size_t i = 0; text && i < row.choices.size(); ++i) {
        if (row.choices[i] == *text) {
          options.*(*integer) = static_cast<std::int64_t>(i);
          return;
        }
      }
      std::string allowed = "one of";
      for (const auto choice : row.choices) allowed += " " + std::string(choice);
      refuse_option(row.name, value, allowed);
    }
    const auto parsed = detail::as_integer(value);
    if (!parsed || static_cast<double>(*parsed) < row.low ||
        static_cast<double>(*parsed) > row.high) {
      refuse_option(row.name, value, "a whole number " + detail::range_text(row.low, row.high));
    }
    options.*(*integer) = *parsed;
  } else {
    const auto parsed = detail::as_number(value);
    if (!parsed || !(*parsed >= row.low && *parsed <= row.high)) {
      refuse_option(row.name, value, "a number " + detail::range_text(row.low, row.high));
    }
    options.*std::get<double S::*>(row.member) = *parsed;
  }
}

template <class S>
OptionValue get_option(const S& options, const Option<S>& row) {
  if (const auto* flag = std::get_if<bool S::*>(&row.member)) return options.*(*flag);
  if (const auto* integer = std::get_if<std::int64_t S::*>(&row.member)) {
    const std::int64_t number = options.*(*integer);
    if (!row.choices.empty()) return std::string(row.choices[static_cast<std::size_t>(number)]);
    return number;
  }
  return options.*std::get<double S::*>(row.member);
}

}  // namespace zermelo
