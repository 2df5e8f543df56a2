// Values as bytes and back, for states that survive the process. Both directions run the same
// `transfer` function of a class; native byte order.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/refused.hpp"

namespace zermelo {

class WriteArchive {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void number(const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <class T>
  void vector(const std::vector<T>& values) {
    number(static_cast<std::uint64_t>(values.size()));
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }

  std::string bytes;
};

// Throws Refused when the bytes end too early.
class ReadArchive {
 public:
  explicit ReadArchive(std::string_view bytes) : left_(bytes) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  void number(T& value) {
    const char* found = take(sizeof(value));
    if constexpr (std::is_same_v<T, bool>) {  // other bytes in a bool are undefined behaviour
      if (*found != 0 && *found != 1) throw Refused("the saved state is damaged");
    }
    std::memcpy(&value, found, sizeof(value));
  }
  template <class T>
  void vector(std::vector<T>& values) {
    std::uint64_t size = 0;
    number(size);
    if (size > left_.size() / sizeof(T)) throw Refused("the saved state is cut off");
    values.resize(size);
    if (size > 0) std::memcpy(values.data(), take(size * sizeof(T)), size * sizeof(T));
  }
  // Throws Refused if there is more.
  void end() const {
    if (!left_.empty()) throw Refused("the saved state goes on behind its end");
  }

 private:
  const char* take(std::size_t size) {
    if (size > left_.size()) throw Refused("the saved state is cut off");
    const char* found = left_.data();
    left_.remove_prefix(size);
    return found;
  }

  std::string_view left_;
};

// A checksum of bytes; not against attackers.
inline std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t sum = 0xCBF29CE484222325ull;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return sum;
}

// The bytes with their checksum behind them, and without it: Refused if it is not theirs.
inline std::string sealed(WriteArchive archive) {
  archive.number(checksum(archive.bytes));
  return std::move(archive.bytes);
}
inline std::string_view unsealed(std::string_view bytes) {
  std::uint64_t sum = 0;
  if (bytes.size() < sizeof(sum)) throw Refused("the saved state is cut off");
  const std::string_view body = bytes.substr(0, bytes.size() - sizeof(sum));
  std::memcpy(&sum, bytes.data() + body.size(), sizeof(sum));
  if (sum != checksum(body)) throw Refused("the saved state is damaged");
  return body;
}

}  // namespace zermelo
