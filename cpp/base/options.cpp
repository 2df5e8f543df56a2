#include "base/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <sstream>
#include <utility>

namespace zermelo {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replace}));
    }
  }
  return row.back();
}

std::string value_text(const OptionValue& value) {
  std::ostringstream text;
  if (const auto* flag = std::get_if<bool>(&value)) {
    text << (*flag ? "on" : "off");
  } else if (const auto* string = std::get_if<std::string>(&value)) {
    text << '\'' << *string << '\'';
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    text << *integer;
  } else {
    text << std::get<double>(value);
  }
  return text.str();
}

}  // namespace

std::string nearest_name(std::string_view text, std::span<const std::string_view> names) {
  const auto best = std::min_element(names.begin(), names.end(), [&](auto a, auto b) {
    return edit_distance(text, a) < edit_distance(text, b);
  });
  return best == names.end() ? "" : std::string(*best);
}

void refuse_option(std::string_view name, const OptionValue& value, const std::string& allowed) {
  throw Refused("option '" + std::string(name) + "' cannot be " + value_text(value) +
                ": it takes " + allowed);
}

namespace detail {

std::optional<bool> as_bool(const OptionValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (*text == "on" || *text == "true") return true;
    if (*text == "off" || *text == "false") return false;
  }
  return std::nullopt;
}

std::optional<std::int64_t> as_integer(const OptionValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  const auto number = as_number(value);
  if (!number || *number != std::floor(*number) || std::abs(*number) > 9e15) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<double> as_number(const OptionValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) {
    double parsed = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), parsed);
    if (error == std::errc() && end == text->data() + text->size()) return parsed;
  }
  return std::nullopt;
}

std::string range_text(double low, double high) {
  std::ostringstream text;
  text << "from " << low << " to " << high;
  return text.str();
}

}  // namespace detail
}  // namespace zermelo
