#include <cmath>
#include <stdexcept>

#include "fuzz/targets.hpp"
#include "network/sparse.hpp"

namespace zermelo::fuzz {

namespace {

constexpr std::size_t kHidden = 64;
constexpr std::size_t kTail = 32;

// `count` numbers, now and then one too many or too few; the bytes come round again.
template <class T>
std::vector<T> numbers(Reader& reader, std::string_view from, std::size_t count) {
  const auto choice = reader.number<std::uint8_t>();
  if (choice == 1) ++count;
  if (choice == 2 && count > 0) --count;
  std::vector<T> found(count);
  if (from.size() < sizeof(T)) return found;
  const std::size_t starts = from.size() - sizeof(T) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&found[i], from.data() + (choice + i * sizeof(T)) % starts, sizeof(T));
  }
  return found;
}

template <Game G>
void try_network(const G& game, const GameInputs* inputs, Reader reader) {
  std::vector<std::vector<int>> windows;
  for (auto left = reader.number<std::uint8_t>() % 3; left > 0; --left) {
    std::vector<int> cells;
    for (auto more = reader.number<std::uint8_t>() % 14; more > 0; --more) {
      cells.push_back(reader.number<std::int8_t>());
    }
    windows.push_back(cells);
  }
  std::vector<int> planes;
  for (auto left = reader.number<std::uint8_t>() % 4; left > 0; --left) {
    planes.push_back(reader.number<std::int8_t>());
  }
  try {
    const FeatureSet features(game.layout(), planes, windows, inputs);
    if (features.num_rows() > 20'000) return;  // large, not other
    SparseArrays a;
    a.hidden = kHidden;
    a.policy_hidden = reader.number<std::uint8_t>() % 2 ? kTail : 0;
    a.value_hidden = kTail;
    a.num_actions = static_cast<std::size_t>(game.num_actions());
    const std::string_view from = reader.rest();
    const std::size_t tails = a.policy_hidden + a.value_hidden;
    const std::size_t rows = a.num_actions + (inputs ? inputs->action_rows : 0);
    a.table = numbers<std::int16_t>(reader, from, features.num_rows() * a.hidden);
    a.tail = numbers<std::int8_t>(reader, from, tails * a.hidden);
    a.tail_bias = numbers<std::int32_t>(reader, from, tails);
    a.actions = numbers<std::int8_t>(reader, from, rows * (a.policy_hidden ? kTail : kHidden));
    a.action_bias = numbers<std::int32_t>(reader, from, rows);
    a.value1 = numbers<std::int8_t>(reader, from, kValueLast * a.value_hidden);
    a.value1_bias = numbers<std::int32_t>(reader, from, kValueLast);
    a.value2 = numbers<std::int8_t>(reader, from, kValueOutputs * kValueLast);
    a.value2_bias = numbers<std::int32_t>(reader, from, kValueOutputs);
    const SparseNetwork network(features, std::move(a));

    std::vector<Action> actions(1 + reader.number<std::uint8_t>() % 8);
    for (Action& action : actions) {
      action = static_cast<Action>(reader.number<std::uint16_t>() % network.num_actions());
    }
    std::vector<std::uint64_t> words(static_cast<std::size_t>(game.layout().words()));
    for (std::uint64_t& word : words) word = reader.number<std::uint64_t>();
    std::vector<float> logits(actions.size());
    SparseScratch scratch;
    const SparseAnswer answer = network.evaluate(words.data(), actions, logits, scratch);
    for (const float logit : logits) must(std::isfinite(logit), "logits are finite");
    float sum = 0;
    for (const float share : answer.wdl) sum += share;
    must(std::abs(sum - 1.0f) < 1e-3f, "win, draw and loss are shares of one");
  } catch (const std::invalid_argument&) {  // how arrays that do not fit are refused
  }
}

}  // namespace

void sparse_network(Bytes bytes) {
  Reader reader(bytes);
  const auto number = reader.number<std::uint8_t>();
  with_game(number, [&](const auto& game) {
    try_network(game, number & 0x80 ? inputs_named("chess") : nullptr, reader);
  });
}

}  // namespace zermelo::fuzz
