#include "base/refused.hpp"
#include "fuzz/targets.hpp"

namespace zermelo::fuzz {

namespace {

// Up to the next line break, which goes too.
std::string_view line_of(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

template <Game G>
void try_texts(const G& game, std::string_view text) {
  auto state = game.initial();
  try {
    state = game.parse_position(std::string(line_of(text)));
    const std::string written = game.position_text(state);
    must(game.position_text(game.parse_position(written)) == written, "it reads what it wrote");
  } catch (const Refused&) {
    state = game.initial();
  }
  ActionList legal;
  while (!text.empty() && game.expand(state, legal) == Outcome::kOngoing) {
    try {
      const Action action = game.parse_action(state, std::string(line_of(text)));
      must(action < game.num_actions(), "an action has a number below the game's");
      if (legal.contains(action)) {
        must(game.parse_action(state, game.action_text(state, action)) == action,
             "it reads the action that it wrote");
        game.play(state, action);
      }
    } catch (const Refused&) {
    }
    legal.clear();
  }
}

}  // namespace

void texts(Bytes bytes) {
  Reader reader(bytes);
  with_game(reader.number<std::uint8_t>(),
            [&](const auto& game) { try_texts(game, reader.rest()); });
}

}  // namespace zermelo::fuzz
