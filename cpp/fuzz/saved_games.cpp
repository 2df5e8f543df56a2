#include <memory>

#include "base/archive.hpp"
#include "fuzz/targets.hpp"
#include "selfplay/runner.hpp"

namespace zermelo::fuzz {

namespace {

// Loads, plays on until some moves were made, and saves again.
template <Game G>
void try_saved(const G& game, std::string_view body) {
  SelfPlayOptions options;
  options.games = 2;
  options.simulations = 2;
  options.max_plies = 60;
  options.regret_share = 0.5;
  Runner<G> runner(game, std::make_shared<HashEvaluator<G>>(1), {}, options, nullptr);
  WriteArchive archive;
  archive.bytes.assign(body);
  try {
    runner.load(sealed(std::move(archive)));
  } catch (const Refused&) {
    return;
  }
  int polls = 0;
  runner.play(1, 0, [&] {
    if (++polls == 4) runner.stop();
  });
  runner.drop_trees();
  const std::string saved = runner.save();
  runner.load(saved);
  must(runner.save() == saved, "saved games are those that were loaded");
}

}  // namespace

void saved_games(Bytes bytes) {
  Reader reader(bytes);
  with_game(reader.number<std::uint8_t>(),
            [&](const auto& game) { try_saved(game, reader.rest()); });
}

}  // namespace zermelo::fuzz
