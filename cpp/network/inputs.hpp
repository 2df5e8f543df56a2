// What a game can tell the processor network beyond the bits of its observation: more rows for a
// position, and more rows for an action. Both are read from the packed observation alone, so
// samples need not hold them.
// Thread rule: pure functions of their arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.hpp"
#include "games/observation.hpp"

namespace zermelo {

struct GameInputs {
  const char* name;
  ObservationLayout layout;  // of the observations that it reads

  std::uint32_t rows;  // among which positions choose
  // Appends the position's, numbered from `first`.
  void (*read)(const std::uint64_t* words, std::uint32_t first, std::vector<std::uint32_t>& rows);

  std::uint16_t action_rows;  // among which actions choose
  std::uint16_t per_action;   // how many each has
  // out[k][per_action] for actions[k], numbered from `first`; also for actions that are not legal.
  void (*read_actions)(const std::uint64_t* words, std::span<const Action> actions,
                       std::uint16_t first, std::uint16_t* out);
};

// Null for a name that is not known.
const GameInputs* inputs_named(std::string_view name);

}  // namespace zermelo
