#include "games/chess/attacks.hpp"

#include "games/chess/magics.hpp"

namespace zermelo::chess {

namespace detail {

std::array<Slider, 64> rooks;
std::array<Slider, 64> bishops;

namespace {

// Sum over the squares of 2^(squares that matter).
std::array<Bitboard, 102400> rook_table;
std::array<Bitboard, 5248> bishop_table;

Bitboard rays(Square from, int first_line, Bitboard occupied) {
  Bitboard reached = 0;
  for (int i = first_line; i < first_line + 4; ++i) {
    reached |= ray(from, kLines[i][0], kLines[i][1], 7, occupied);
  }
  return reached;
}

void fill(std::array<Slider, 64>& sliders, Bitboard* table, int first_line,
          const std::array<Bitboard, 64>& magics) {
  for (Square from = 0; from < 64; ++from) {
    const Bitboard edges = ((kRank1 | kRank8) & ~rank_mask(rank_of(from))) |
                           ((kFileA | kFileH) & ~(kFileA << file_of(from)));
    Slider& slider = sliders[from];
    slider.mask = rays(from, first_line, 0) & ~edges;
    slider.magic = magics[from];
    slider.shift = 64 - count(slider.mask);
    slider.attacks = table;
    // Every subset of the mask, by counting in its bits only.
    Bitboard occupied = 0;
    do {
      table[slot(slider, occupied)] = rays(from, first_line, occupied);
      occupied = (occupied - slider.mask) & slider.mask;
    } while (occupied != 0);
    table += std::size_t{1} << count(slider.mask);
  }
}

}  // namespace
}  // namespace detail

void prepare_attacks() noexcept {
  [[maybe_unused]] static const bool done = [] {
    detail::fill(detail::rooks, detail::rook_table.data(), 0, detail::kRookMagics);
    detail::fill(detail::bishops, detail::bishop_table.data(), 4, detail::kBishopMagics);
    return true;
  }();
}

namespace {
[[maybe_unused]] const bool prepared_at_start = (prepare_attacks(), true);
}

}  // namespace zermelo::chess
