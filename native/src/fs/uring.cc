// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/uring.h"

#include <liburing.h>
#include <liburing/io_uring.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/thread_annotations.h"

namespace lava::fs {
namespace {

// About as many as a garbage collection reads at once.
constexpr unsigned kDepth = 128;
constexpr size_t kRingsKept = 8;

class Ring {
 public:
  /// 0, or errno.
  static int Make(std::unique_ptr<Ring>* made) {
    std::unique_ptr<Ring> ring(new Ring());
    const int error = -io_uring_queue_init(kDepth, &ring->ring_, 0);
    if (error != 0) return error;
    ring->is_made_ = true;
    // Kernels before 5.6 have rings, but not these calls.
    io_uring_probe* probe = io_uring_get_probe_ring(&ring->ring_);
    const bool can = probe != nullptr && io_uring_opcode_supported(probe, IORING_OP_READ) != 0 &&
                     io_uring_opcode_supported(probe, IORING_OP_WRITE) != 0;
    io_uring_free_probe(probe);
    if (!can) return ENOSYS;
    *made = std::move(ring);
    return 0;
  }
  ~Ring() {
    if (is_made_) io_uring_queue_exit(&ring_);
  }

  void Start(std::span<UringCall> reads) {
    reads_ = reads;
    prepared_ = submitted_ = done_ = 0;
    failed_ = false;
    for (UringCall& read : reads_) read.result = -ECANCELED;
    Prepare();
    if (prepared_ > 0) Submit(0);
  }
  Uring::Outcome Complete() {
    while (done_ < submitted_ || (!failed_ && submitted_ < reads_.size())) {
      Prepare();
      if (!failed_ && submitted_ < prepared_) Submit(1);
      if (!TakeCompletions(done_ < submitted_, &done_)) return Uring::Outcome::kLost;
    }
    is_usable_ = !failed_;
    return Uring::Outcome::kDone;
  }
  std::span<UringCall> reads() const { return reads_; }

  bool Begin(UringCall* write) {
    io_uring_sqe* const sqe = io_uring_get_sqe(&ring_);
    if (sqe == nullptr) return false;
    io_uring_prep_write(sqe, write->descriptor, write->memory, write->length, write->offset);
    io_uring_sqe_set_data(sqe, write);
    int n = 0;
    // Does not wait for a completion; Submit(1) waits for one.
    do {
      n = io_uring_submit_and_wait(&ring_, 0);
    } while (n == -EINTR);
    is_usable_ = n == 1;  // otherwise the ring still holds the prepared call
    return is_usable_;
  }
  Uring::Outcome Finish() {
    size_t done = 0;
    return TakeCompletions(true, &done) ? Uring::Outcome::kDone : Uring::Outcome::kLost;
  }
  bool is_usable() const { return is_usable_; }

 private:
  Ring() = default;

  void Prepare() {
    while (!failed_ && prepared_ < reads_.size() && prepared_ - done_ < kDepth) {
      io_uring_sqe* const sqe = io_uring_get_sqe(&ring_);
      if (sqe == nullptr) return;
      UringCall& read = reads_[prepared_++];
      io_uring_prep_read(sqe, read.descriptor, read.memory, read.length, read.offset);
      io_uring_sqe_set_data(sqe, &read);
    }
  }
  // Submits the prepared reads and waits for `wait` completions, if all could be submitted.
  void Submit(unsigned wait) {
    const int n = io_uring_submit_and_wait(&ring_, wait);
    if (n >= 0) {
      submitted_ += static_cast<size_t>(n);
    } else if (n != -EINTR && (done_ == submitted_ || (n != -EAGAIN && n != -EBUSY))) {
      failed_ = true;  // the rest is never submitted: the ring is discarded
    }
  }
  // False when the state of the kernel's calls has become unknown.
  bool TakeCompletions(bool wait, size_t* done) {
    io_uring_cqe* cqe = nullptr;
    while (true) {
      const int error = wait ? io_uring_wait_cqe(&ring_, &cqe) : io_uring_peek_cqe(&ring_, &cqe);
      if (error == -EAGAIN) return true;
      if (error == -EINTR) continue;
      if (error != 0) return is_usable_ = false;
      static_cast<UringCall*>(io_uring_cqe_get_data(cqe))->result = cqe->res;
      io_uring_cqe_seen(&ring_, cqe);
      ++*done;
      wait = false;
    }
  }

  io_uring ring_{};
  std::span<UringCall> reads_;
  size_t prepared_ = 0, submitted_ = 0, done_ = 0;
  bool failed_ = false;
  bool is_made_ = false;
  bool is_usable_ = true;
};

/// The unused rings of the process. Never destroyed: threads may outlive static objects.
class Rings {
 public:
  static Rings& Get() {
    static Rings* const rings = new Rings();
    return *rings;
  }
  std::unique_ptr<Ring> Take() {
    if (refused_.load(std::memory_order_relaxed)) return nullptr;
    {
      MutexLock lock(&mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Ring> ring = std::move(free_.back());
        free_.pop_back();
        return ring;
      }
    }
    std::unique_ptr<Ring> ring;
    const int error = Ring::Make(&ring);
    // A lack of descriptors or memory is temporary.
    if (error != 0 && error != EMFILE && error != ENFILE && error != ENOMEM && error != EAGAIN)
      refused_.store(true, std::memory_order_relaxed);
    return ring;
  }
  void Count(std::span<const UringCall> done) {
    uint64_t bytes = 0;
    for (const UringCall& read : done)
      bytes += read.result > 0 ? static_cast<uint64_t>(read.result) : 0;
    reads_.fetch_add(done.size(), std::memory_order_relaxed);
    bytes_read_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void CountWrite(const UringCall& done) {
    writes_.fetch_add(1, std::memory_order_relaxed);
    bytes_written_.fetch_add(done.result > 0 ? static_cast<uint64_t>(done.result) : 0,
                             std::memory_order_relaxed);
  }
  Uring::Totals totals() const {
    return {reads_.load(), bytes_read_.load(), writes_.load(), bytes_written_.load()};
  }
  void GiveBack(std::unique_ptr<Ring> ring) {
    if (!ring->is_usable()) return;
    MutexLock lock(&mutex_);
    if (free_.size() < kRingsKept) free_.push_back(std::move(ring));
  }

 private:
  std::atomic<bool> refused_{false};
  std::atomic<uint64_t> reads_{0}, bytes_read_{0}, writes_{0}, bytes_written_{0};
  Mutex mutex_;
  std::vector<std::unique_ptr<Ring>> free_ LAVA_GUARDED_BY(mutex_);
};

class TakenUring final : public Uring {
 public:
  explicit TakenUring(std::unique_ptr<Ring> ring) : ring_(std::move(ring)) {}
  ~TakenUring() override { Rings::Get().GiveBack(std::move(ring_)); }
  void Start(std::span<UringCall> reads) override { ring_->Start(reads); }
  Outcome Complete() override {
    const Outcome outcome = ring_->Complete();
    if (outcome == Outcome::kDone) Rings::Get().Count(ring_->reads());
    return outcome;
  }
  bool Begin(UringCall* write) override { return ring_->Begin(write); }
  Outcome Finish(UringCall* write) override {
    const Outcome outcome = ring_->Finish();
    if (outcome == Outcome::kDone) Rings::Get().CountWrite(*write);
    return outcome;
  }

 private:
  std::unique_ptr<Ring> ring_;
};

}  // namespace

std::unique_ptr<Uring> Uring::Take() {
  std::unique_ptr<Ring> ring = Rings::Get().Take();
  if (ring == nullptr) return nullptr;
  return std::make_unique<TakenUring>(std::move(ring));
}

Uring::Totals Uring::TotalsNow() { return Rings::Get().totals(); }

}  // namespace lava::fs
