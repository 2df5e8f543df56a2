#include "base/archive.hpp"
#include "fuzz/targets.hpp"
#include "games/observation.hpp"
#include "selfplay/resume.hpp"

namespace zermelo::fuzz {

namespace {

template <Game G>
void try_samples(const G& game, std::string_view body) {
  SampleColumns rows;
  GameColumns games;
  try {
    ReadArchive archive(body);
    rows.transfer(archive, SampleColumns::kCount);
    games.fill_each([&](const char*, auto& column) { archive.vector(column); });
  } catch (const Refused&) {
    return;
  }
  const ObservationLayout& layout = game.layout();
  const auto words = static_cast<std::size_t>(layout.words());
  std::vector<float> planes(static_cast<std::size_t>(layout.floats()));
  // Observations are expanded before anybody knows whether their games were possible.
  if (rows.observations.size() >= words) {
    expand_observation(layout, rows.observations.data(), planes.data());
  }
  try {
    FinishedGames<G>(game, rows, games).check();
  } catch (const Refused&) {
    return;
  }
  must(rows.observations.size() == rows.size() * words, "checked rows have their observations");
}

}  // namespace

void samples(Bytes bytes) {
  Reader reader(bytes);
  with_game(reader.number<std::uint8_t>(),
            [&](const auto& game) { try_samples(game, reader.rest()); });
}

}  // namespace zermelo::fuzz
