// Which rows of the first layer's table a position adds up: its features, as indices.
//
// Row numbers, in this order:
//   bits      plane * cells + cell, for each set bit of a binary plane (or dense cell that is not
//   0) full      one per binary plane, instead of the bits of a plane whose cells are all set
//   scalars   one per scalar plane, times the plane's value
//   windows   a window is a list of cells; what stands on them selects one of its rows
//   inputs    what the game tells beyond its bits, if wanted: see inputs.hpp
//   bias      the last row, always
// Windows are data: which cells, and which planes tell the contents of a cell apart. A window
// whose cells are all empty adds nothing (the bias has it), nor does one with two pieces on a cell.
// Knows no game and no arithmetic.
#pragma once

#include <cstdint>
#include <vector>

#include "games/observation.hpp"
#include "network/inputs.hpp"

namespace zermelo {

// A row that is added `factor` / kFactorOne times, rounded.
struct ScaledRow {
  std::uint32_t row = 0;
  std::int32_t factor = 0;
};
inline constexpr int kFactorBits = 7;
inline constexpr int kFactorOne = 1 << kFactorBits;
inline constexpr float kMostFactor = 4.0f;  // values beyond it count as it

// A position's features. Owner: one thread, which uses it again and again.
struct Features {
  std::vector<std::uint32_t> rows;
  std::vector<ScaledRow> scaled;
  std::vector<std::uint32_t> contents;  // of the windows, while they are read

  void clear() {
    rows.clear();
    scaled.clear();
  }
};

class FeatureSet {
 public:
  // `window_planes`: planes (binary or dense) whose bit on a cell is the digit 1, 2, ... there; no
  // two of them are set on one cell. `windows`: cells of each, at most kMostCells. `inputs`: null
  // for none.
  FeatureSet(ObservationLayout layout, const std::vector<int>& window_planes,
             const std::vector<std::vector<int>>& windows, const GameInputs* inputs = nullptr);

  static constexpr std::size_t kMostCells = 12;
  static constexpr std::int64_t kMostRows = 1 << 24;

  const ObservationLayout& layout() const { return layout_; }
  const GameInputs* inputs() const { return inputs_; }
  std::uint32_t num_rows() const { return bias_ + 1; }
  std::uint32_t bias_row() const { return bias_; }
  std::uint32_t first_window_row() const { return first_window_; }

  // The features of a packed observation; what `out` held is gone. The bias comes first. Bits off
  // the board count as not set.
  void read(const std::uint64_t* words, Features& out) const;

 private:
  // What a piece on a cell adds to the content of a window that covers the cell.
  struct Share {
    std::uint32_t window;
    std::uint32_t weight;  // base^position in the window
  };
  void add_to_windows(int plane, int cell, Features& out) const;

  ObservationLayout layout_;
  std::uint64_t last_word_ = ~std::uint64_t{0};  // the bits on the board in a plane's last word
  std::uint32_t first_full_ = 0;
  std::uint32_t first_scalar_ = 0;
  std::uint32_t first_window_ = 0;
  std::uint32_t first_input_ = 0;
  std::uint32_t bias_ = 0;
  const GameInputs* inputs_ = nullptr;
  std::vector<std::uint32_t> digit_of_plane_;  // 0: not a window plane
  std::vector<std::uint32_t> window_rows_;     // of each window, its first row less one
  std::vector<std::uint32_t> window_sizes_;    // how many contents each has, the empty one too
  std::vector<std::uint32_t> first_share_;     // of each cell, into shares_; one more at the end
  std::vector<Share> shares_;
};

}  // namespace zermelo
