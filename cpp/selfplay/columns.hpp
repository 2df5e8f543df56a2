// What finished games leave behind, as columns: a row for each sample.
// Every column is declared here, once: memory, order, names in Python and saving follow from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zermelo {

inline constexpr std::uint32_t kShareUnit = 65535;  // a whole policy
inline constexpr double kValueUnit = 32767;         // a value of 1

enum SampleFlag : std::uint8_t {
  kFull = 1,         // the policy is a target
  kResigned = 2,     // the game ended by resignation
  kAdjudicated = 4,  // the game was cut off
  kAudit = 8,        // resignation was only noted in this game
  kProven = 16,      // the search had proved the position's result
};

// X(type, name), in the order of the file. N samples with E policy entries together; a sample's
// entries are its legal actions, ascending.
#define ZERMELO_SAMPLE_COLUMNS(X)                                                \
  X(std::uint64_t, observations)   /* [N * words] */                             \
  X(std::uint16_t, policy_counts)  /* [N] */                                     \
  X(std::uint16_t, policy_actions) /* [E] */                                     \
  X(std::uint16_t, policy_shares)  /* [E], of kShareUnit; all 0 without kFull */ \
  X(std::int8_t, results)          /* -1, 0, 1 */                                \
  X(std::int16_t, values)          /* root value, of kValueUnit */               \
  X(std::uint16_t, draws)          /* root draw probability, of kShareUnit */    \
  X(std::uint16_t, plies)          /* played before */                           \
  X(std::uint16_t, plies_left)     /* until the end */                           \
  X(std::uint32_t, iterations)     /* of the network that searched */            \
  X(std::uint32_t, games)          /* number within these samples */             \
  X(std::uint8_t, symmetries)      /* how many the position has */               \
  X(std::uint8_t, flags)           /* SampleFlag */

#define ZERMELO_DECLARE(type, name) std::vector<type> name;
#define ZERMELO_SHOW(type, name) f(#name, name);
#define ZERMELO_CHANGE(type, name) f(name, others.name...);

struct SampleColumns {
  ZERMELO_SAMPLE_COLUMNS(ZERMELO_DECLARE)

  std::size_t size() const { return results.size(); }

  // Every column in turn: f(name, column), and f(column, the same column of another...).
  template <class F>
  void each(F f) const {
    ZERMELO_SAMPLE_COLUMNS(ZERMELO_SHOW)
  }
  template <class F, class... Others>
  void change_each(F f, const Others&... others) {
    ZERMELO_SAMPLE_COLUMNS(ZERMELO_CHANGE)
  }

  void append(const SampleColumns& more) {
    change_each(
        [](auto& mine, const auto& its) { mine.insert(mine.end(), its.begin(), its.end()); }, more);
  }
  void clear() {
    change_each([](auto& column) { column.clear(); });
  }
  template <class Archive>
  void transfer(Archive& archive) {
    change_each([&](auto& column) { archive.vector(column); });
  }
};

#undef ZERMELO_DECLARE
#undef ZERMELO_SHOW
#undef ZERMELO_CHANGE
#undef ZERMELO_SAMPLE_COLUMNS

}  // namespace zermelo
