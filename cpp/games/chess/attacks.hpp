// Which squares a piece attacks. Leapers and lines are tables made at compile time; sliders are
// looked up by the occupancy of their lines: with PEXT where the processor has it (BMI2), else by
// multiplication with a magic number. Knows no colours but the pawns' and no rules.
#pragma once

#if defined(__BMI2__)
#include <immintrin.h>
#endif

#include <array>
#include <cstddef>

#include "games/chess/bitboard.hpp"

namespace zermelo::chess {

namespace detail {

using Table = std::array<Bitboard, 64>;
using PairTable = std::array<Table, 64>;

// The squares reached from `from` by steps of (file, rank), at most `steps` of them, up to and with
// the first square of `occupied`.
constexpr Bitboard ray(Square from, int file_step, int rank_step, int steps, Bitboard occupied) {
  Bitboard reached = 0;
  int file = file_of(from) + file_step;
  int rank = rank_of(from) + rank_step;
  for (; steps > 0 && file >= 0 && file < 8 && rank >= 0 && rank < 8; --steps) {
    const Bitboard here = bit(square_at(file, rank));
    reached |= here;
    if (occupied & here) break;
    file += file_step;
    rank += rank_step;
  }
  return reached;
}

constexpr int kLines[8][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
constexpr int kKnightSteps[8][2] = {{1, 2},   {2, 1},   {2, -1}, {1, -2},
                                    {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};

constexpr Table leaper(const int (&steps)[8][2]) {
  Table table{};
  for (Square from = 0; from < 64; ++from) {
    for (const auto& step : steps) table[from] |= ray(from, step[0], step[1], 1, 0);
  }
  return table;
}

constexpr std::array<Table, 2> pawns() {
  std::array<Table, 2> tables{};
  for (Square from = 0; from < 64; ++from) {
    tables[kWhite][from] = forward_to_a<kWhite>(bit(from)) | forward_to_h<kWhite>(bit(from));
    tables[kBlack][from] = forward_to_a<kBlack>(bit(from)) | forward_to_h<kBlack>(bit(from));
  }
  return tables;
}

constexpr PairTable between() {
  PairTable table{};
  for (Square from = 0; from < 64; ++from) {
    for (const auto& step : kLines) {
      Bitboard passed = 0;
      for (int steps = 1; steps < 8; ++steps) {
        const Bitboard reached = ray(from, step[0], step[1], steps, 0);
        if (reached == passed) break;
        table[from][lowest(reached ^ passed)] = passed;
        passed = reached;
      }
    }
  }
  return table;
}

struct Slider {
  Bitboard mask = 0;  // squares whose occupancy matters: the lines without the board's edge
  Bitboard magic = 0;
  const Bitboard* attacks = nullptr;
  int shift = 0;
};

extern std::array<Slider, 64> rooks;
extern std::array<Slider, 64> bishops;

inline std::size_t slot(const Slider& slider, Bitboard occupied) {
#if defined(__BMI2__)
  return _pext_u64(occupied, slider.mask);
#else
  return ((occupied & slider.mask) * slider.magic) >> slider.shift;
#endif
}

}  // namespace detail

// Builds the sliders' tables; called when the program starts and by every Chess object, so that
// objects made before main() work too. Thread-safe, and the work is done once.
void prepare_attacks() noexcept;

inline constexpr detail::Table kKnightAttacks = detail::leaper(detail::kKnightSteps);
inline constexpr detail::Table kKingAttacks = detail::leaper(detail::kLines);
// [side][square]: the squares that a pawn of `side` on `square` attacks.
inline constexpr std::array<detail::Table, 2> kPawnAttacks = detail::pawns();
// The squares strictly between two squares of one line; empty for any other pair.
inline constexpr detail::PairTable kBetween = detail::between();

inline Bitboard rook_attacks(Square from, Bitboard occupied) {
  const detail::Slider& rook = detail::rooks[from];
  return rook.attacks[detail::slot(rook, occupied)];
}
inline Bitboard bishop_attacks(Square from, Bitboard occupied) {
  const detail::Slider& bishop = detail::bishops[from];
  return bishop.attacks[detail::slot(bishop, occupied)];
}

}  // namespace zermelo::chess
