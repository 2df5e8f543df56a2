#include "network/features.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

namespace zermelo {

namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

// The value in 1/kFactorOne, rounded half away from zero and kept within kMostFactor.
std::int32_t factor_of(float value) {
  const float kept = std::clamp(value, -kMostFactor, kMostFactor);
  return static_cast<std::int32_t>(std::lround(kept * static_cast<float>(kFactorOne)));
}

void add_scaled(std::uint32_t row, float value, Features& out) {
  const std::int32_t factor = factor_of(value);
  if (factor == kFactorOne) {
    out.rows.push_back(row);
  } else if (factor != 0) {
    out.scaled.push_back({row, factor});
  }
}

// Of sizes that a stranger's file may say: nothing is multiplied or made before they are bounded.
void check_layout(const ObservationLayout& layout) {
  constexpr std::int64_t kMost = FeatureSet::kMostRows;
  const auto small = [](std::int64_t number) { return number >= 0 && number < kMost; };
  const auto scalars = static_cast<std::int64_t>(layout.scalar_scales.size());
  const bool bounded = small(layout.rows) && small(layout.columns) && small(layout.binary_planes) &&
                       small(layout.dense_planes) && small(scalars);
  const std::int64_t cells = std::int64_t{layout.rows} * layout.columns;
  const std::int64_t planes = std::int64_t{layout.binary_planes} + layout.dense_planes;
  if (!bounded || !small(cells) || !small((planes + 1) * cells) ||
      !small(planes * cells + planes + scalars)) {
    refuse("the planes have negative sizes, or more than 2^24 cells together");
  }
}

}  // namespace

FeatureSet::FeatureSet(ObservationLayout layout, const std::vector<int>& window_planes,
                       const std::vector<std::vector<int>>& windows, const GameInputs* inputs)
    : layout_(std::move(layout)), inputs_(inputs) {
  check_layout(layout_);
  if (inputs_ && inputs_->layout != layout_) {
    refuse(std::string("the inputs '") + inputs_->name + "' are of another game's observations");
  }
  const int cells = layout_.cells();
  if (cells % 64) last_word_ = (std::uint64_t{1} << cells % 64) - 1;
  const int cell_planes = layout_.binary_planes + layout_.dense_planes;
  first_full_ = static_cast<std::uint32_t>(cell_planes * cells);
  first_scalar_ = first_full_ + static_cast<std::uint32_t>(layout_.binary_planes);
  first_window_ = first_scalar_ + static_cast<std::uint32_t>(layout_.scalar_planes());
  digit_of_plane_.assign(static_cast<std::size_t>(cell_planes), 0);
  for (std::size_t i = 0; i < window_planes.size(); ++i) {
    const int plane = window_planes[i];
    if (plane < 0 || plane >= cell_planes || digit_of_plane_[static_cast<std::size_t>(plane)]) {
      refuse("window plane " + std::to_string(plane) + " is none of " +
             std::to_string(cell_planes) + ", or named twice");
    }
    digit_of_plane_[static_cast<std::size_t>(plane)] = static_cast<std::uint32_t>(i + 1);
  }
  if (!windows.empty() && window_planes.empty()) refuse("windows need window planes");
  const std::int64_t base = static_cast<std::int64_t>(window_planes.size()) + 1;
  std::int64_t next = first_window_;
  std::vector<std::vector<Share>> shares(static_cast<std::size_t>(cells));
  for (std::size_t w = 0; w < windows.size(); ++w) {
    if (windows[w].empty() || windows[w].size() > kMostCells) {
      refuse("window " + std::to_string(w) + " has " + std::to_string(windows[w].size()) +
             " cells, not 1 to " + std::to_string(kMostCells));
    }
    std::int64_t weight = 1;
    for (const int cell : windows[w]) {
      if (cell < 0 || cell >= cells) {
        refuse("window " + std::to_string(w) + " names cell " + std::to_string(cell) +
               " of a board of " + std::to_string(cells));
      }
      shares[static_cast<std::size_t>(cell)].push_back(
          {static_cast<std::uint32_t>(w), static_cast<std::uint32_t>(weight)});
      weight *= base;
      if (weight > kMostRows) refuse("window " + std::to_string(w) + " has too many contents");
    }
    window_rows_.push_back(static_cast<std::uint32_t>(next - 1));
    window_sizes_.push_back(static_cast<std::uint32_t>(weight));
    next += weight - 1;
    if (next >= kMostRows) refuse("the windows have more than 2^24 contents together");
  }
  first_input_ = static_cast<std::uint32_t>(next);
  bias_ = first_input_ + (inputs_ ? inputs_->rows : 0);
  for (const auto& of_cell : shares) {
    first_share_.push_back(static_cast<std::uint32_t>(shares_.size()));
    shares_.insert(shares_.end(), of_cell.begin(), of_cell.end());
  }
  first_share_.push_back(static_cast<std::uint32_t>(shares_.size()));
}

void FeatureSet::add_to_windows(int plane, int cell, Features& out) const {
  const std::uint32_t digit = digit_of_plane_[static_cast<std::size_t>(plane)];
  if (digit == 0) return;
  const auto at = static_cast<std::size_t>(cell);
  for (std::uint32_t i = first_share_[at]; i < first_share_[at + 1]; ++i) {
    out.contents[shares_[i].window] += digit * shares_[i].weight;
  }
}

void FeatureSet::read(const std::uint64_t* words, Features& out) const {
  out.clear();
  out.rows.push_back(bias_);
  if (inputs_) inputs_->read(words, first_input_, out.rows);
  out.contents.assign(window_rows_.size(), 0);
  const bool has_windows = !window_rows_.empty();
  const int cells = layout_.cells();
  const int per_plane = layout_.words_per_plane();
  for (int plane = 0; plane < layout_.binary_planes; ++plane) {
    const std::uint64_t* bits = words + plane * per_plane;
    const auto on_board = [&](int word) {
      return bits[word] & (word + 1 == per_plane ? last_word_ : ~std::uint64_t{0});
    };
    int set = 0;
    for (int word = 0; word < per_plane; ++word) set += std::popcount(on_board(word));
    const bool full = set == cells;
    if (full) out.rows.push_back(first_full_ + static_cast<std::uint32_t>(plane));
    if (full && !has_windows) continue;
    for (int word = 0; word < per_plane; ++word) {
      for (std::uint64_t rest = on_board(word); rest != 0; rest &= rest - 1) {
        const int cell = word * 64 + std::countr_zero(rest);
        if (!full) out.rows.push_back(static_cast<std::uint32_t>(plane * cells + cell));
        if (has_windows) add_to_windows(plane, cell, out);
      }
    }
  }
  words += layout_.binary_words();
  for (int i = 0; i < layout_.scalar_planes(); ++i) {
    const auto byte = static_cast<std::uint8_t>(words[i / 8] >> (i % 8 * 8));
    if (byte == 0) continue;
    add_scaled(first_scalar_ + static_cast<std::uint32_t>(i),
               static_cast<float>(byte) * layout_.scalar_scales[static_cast<std::size_t>(i)], out);
  }
  words += layout_.scalar_words();
  for (int i = 0; i < layout_.dense_planes * cells; ++i) {
    float value = 0;
    std::memcpy(&value, reinterpret_cast<const float*>(words) + i, sizeof value);
    if (value == 0) continue;
    add_scaled(static_cast<std::uint32_t>(layout_.binary_planes * cells + i), value, out);
    if (has_windows) add_to_windows(layout_.binary_planes + i / cells, i % cells, out);
  }
  for (std::size_t w = 0; w < window_rows_.size(); ++w) {
    // A content beyond the last is one of two pieces on a cell, which the planes should not have.
    if (out.contents[w] != 0 && out.contents[w] < window_sizes_[w]) {
      out.rows.push_back(window_rows_[w] + out.contents[w]);
    }
  }
}

}  // namespace zermelo
