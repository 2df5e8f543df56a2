// What one of several threads on a tree found for its root since it last told the others (S19).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "games/game.hpp"
#include "search/backup.hpp"
#include "search/board.hpp"
#include "search/regularise.hpp"
#include "search/tree.hpp"

namespace zermelo {

template <Game G>
class RootTally {
 public:
  // A simulation of `tree` with its value for the root. `action` is its root action's row; it is
  // used if `has_row`.
  void add(Tree<G>& tree, const RootVisit& visit, bool has_row, std::size_t action, bool forced,
           double draw) {
    tree_ = &tree;
    value_sum_ += visit.value;
    squares_ += visit.value * visit.value;
    plies_ += visit.plies;
    ++visits_;
    rows_.resize(tree.table.actions.size());
    if (!has_row) return;
    Row& row = rows_[action];
    ++row.backups;
    row.forced += forced;
    row.draw_sum += draw;
  }

  // Brings the root and its actions up to date.
  void flush(const SelectConstants& constants, NodePool& pool) {
    if (visits_ == 0) return;
    Node& root = *pool.node(tree_->root);
    if (constants.options.squared()) Access<true>::add(annex_of(root).squares, squares_);
    if (constants.options.hurried()) Access<true>::add(annex_of(root).plies, plies_);
    if (constants.options.regularised()) {
      regularise<true>(constants, pool, root, true, visits_, value_sum_,
                       constants.options.draw_score);
    } else {
      Access<true>::add(root.value_sum, value_sum_);
      Access<true>::add(root.visits, visits_);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      if (row.backups == 0) continue;
      tree_->table.actions[i].template add<true>(row.backups, row.forced, row.draw_sum);
      rows_[i] = {};
    }
    value_sum_ = 0;
    squares_ = 0;
    plies_ = 0;
    visits_ = 0;
  }

 private:
  struct Row {
    std::uint32_t backups = 0;
    std::uint32_t forced = 0;
    double draw_sum = 0;
  };
  Tree<G>* tree_ = nullptr;
  double value_sum_ = 0;
  double squares_ = 0;
  double plies_ = 0;
  std::uint32_t visits_ = 0;
  std::vector<Row> rows_;
};

}  // namespace zermelo
