// Lets searches in several threads share the network's batches, though each of them evaluates one
// leaf at a time: a thread's leaves wait until enough are there or every searching thread waits.
// One of the waiting threads then evaluates for all.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "games/game.hpp"
#include "search/evaluator.hpp"

namespace zermelo {

template <Game G>
class GatheringEvaluator final : public Evaluator<G> {
 public:
  // `batch`: so many positions are evaluated together as soon as they are there.
  GatheringEvaluator(std::shared_ptr<Evaluator<G>> inner, std::size_t batch)
      : inner_(std::move(inner)), batch_(batch) {}

  bool wants_observations() const override { return inner_->wants_observations(); }
  bool tells_plies_left() const override { return inner_->tells_plies_left(); }

  void enter() override {
    const std::lock_guard guard(mutex_);
    ++searching_;
  }
  void leave() override {
    const std::lock_guard guard(mutex_);
    --searching_;
    wake_leader();
  }

  void evaluate(std::span<Position<G>> positions) override {
    Request request{positions};
    std::unique_lock lock(mutex_);
    queue_.push_back(&request);
    queued_ += positions.size();
    wake_leader();
    for (;;) {
      request.woken.wait(lock, [&] { return request.done || request.leads; });
      if (request.done) break;
      request.leads = false;
      serve(lock, request);
    }
    if (request.error) std::rethrow_exception(request.error);
    if (!request.failure.empty()) throw std::runtime_error(request.failure);
  }

 private:
  // One call of evaluate(). Owner: its thread, which waits.
  struct Request {
    std::span<Position<G>> positions;
    std::condition_variable woken = {};
    bool leads = false;  // its thread has to evaluate for all that wait
    bool done = false;
    // The leader throws what the evaluator threw; the others say the same, since an exception of
    // Python's belongs to one thread.
    std::exception_ptr error = nullptr;
    std::string failure = {};
  };

  // If it is time for a batch, tells the thread that waits longest. Caller: holds mutex_.
  void wake_leader() {
    const bool all_wait = served_ == 0 && queue_.size() >= searching_;
    if (queue_.empty() || (queued_ < batch_ && !all_wait)) return;
    Request& leader = *queue_.front();
    if (leader.leads) return;
    leader.leads = true;
    leader.woken.notify_one();
  }

  // Evaluates the oldest requests, up to a batch. Caller: holds mutex_, which is free meanwhile.
  void serve(std::unique_lock<std::mutex>& lock, const Request& leader) {
    std::vector<Request*> requests;
    std::vector<Position<G>> positions;
    while (!queue_.empty() &&
           (requests.empty() || positions.size() + queue_.front()->positions.size() <= batch_)) {
      Request* request = queue_.front();
      queue_.pop_front();
      requests.push_back(request);
      positions.insert(positions.end(), request->positions.begin(), request->positions.end());
    }
    queued_ -= positions.size();
    served_ += requests.size();
    wake_leader();
    lock.unlock();
    std::exception_ptr error;
    std::string failure;
    try {
      inner_->evaluate(std::span(positions));
    } catch (const std::exception& caught) {
      error = std::current_exception();
      failure = std::string("the evaluator failed: ") + caught.what();
    }
    lock.lock();
    served_ -= requests.size();
    std::size_t next = 0;
    for (Request* request : requests) {
      for (Position<G>& position : request->positions) {
        position.value = positions[next].value;
        position.draw = positions[next].draw;
        position.plies_left = positions[next++].plies_left;
      }
      if (request == &leader) {
        request->error = error;
      } else {
        request->failure = failure;
      }
      request->done = true;
      request->woken.notify_one();
    }
    wake_leader();
  }

  // Constant.
  const std::shared_ptr<Evaluator<G>> inner_;
  const std::size_t batch_;
  // Guarded by mutex_.
  std::mutex mutex_;
  std::deque<Request*> queue_;  // oldest first
  std::size_t queued_ = 0;      // positions in queue_
  std::size_t served_ = 0;      // requests that are being evaluated
  std::size_t searching_ = 0;   // threads between enter() and leave()
};

}  // namespace zermelo
