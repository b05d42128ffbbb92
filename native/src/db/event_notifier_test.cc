// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/event_notifier.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "testing/recording_listener.h"

namespace lava {
namespace {

using testing::EventKind;
using testing::RecordingListener;

void Drop(EventNotifier* notifier, const std::string& table) {
  notifier->Queue(&EventListener::OnTableDropped, [&table] {
    TableDroppedInfo info;
    info.table = table;
    return info;
  });
}

TEST(EventNotifier, QueuesUntilSomebodyDelivers) {
  const auto listener = std::make_shared<RecordingListener>();
  EventNotifier notifier({listener}, "/db");
  Drop(&notifier, "a");
  Drop(&notifier, "b");
  EXPECT_EQ(listener->size(), 0u);
  notifier.Deliver();
  const auto dropped = listener->All<TableDroppedInfo>(EventKind::kTableDropped);
  ASSERT_EQ(dropped.size(), 2u);
  EXPECT_EQ(dropped[0].table, "a");
  EXPECT_EQ(dropped[1].table, "b");
  EXPECT_EQ(dropped[0].path, "/db");
  notifier.Deliver();
  EXPECT_EQ(listener->size(), 2u);
}

TEST(EventNotifier, MakesNothingWithoutListeners) {
  EventNotifier notifier({}, "/db");
  notifier.Queue(&EventListener::OnTableDropped,
                 []() -> TableDroppedInfo { throw std::logic_error("made for nobody"); });
  FlushInfo flush;
  notifier.BeginJob(&EventListener::OnFlushBegin, &flush);
  EXPECT_EQ(flush.job, 0u);
  EXPECT_FALSE(notifier.StallIs(StallInfo(), Status::OK(), 1));
  EXPECT_FALSE(notifier.is_stalled());
  EXPECT_EQ(notifier.events_dropped(), 0u);
}

TEST(EventNotifier, JoinsBeginAndEndOfAJobByItsNumber) {
  const auto listener = std::make_shared<RecordingListener>();
  EventNotifier notifier({listener}, "/db");
  FlushInfo first, second, third;
  notifier.BeginJob(&EventListener::OnFlushBegin, &first);
  notifier.BeginJob(&EventListener::OnFlushBegin, &second);
  EXPECT_EQ(listener->count(EventKind::kFlushBegin), 2u)
      << "the begin of a job must be delivered at once";
  notifier.EndJob(&EventListener::OnFlushEnd, &second, Status::NoSpace("full"), 7);
  notifier.EndJob(&EventListener::OnFlushEnd, &third, Status::OK(), 7);
  notifier.Deliver();
  const auto ended = listener->All<FlushInfo>(EventKind::kFlushEnd);
  ASSERT_EQ(ended.size(), 1u) << "a job without a begin event must have no end event";
  EXPECT_NE(first.job, second.job);
  EXPECT_EQ(ended[0].job, second.job);
  EXPECT_EQ(ended[0].duration_us, 7u);
  EXPECT_TRUE(ended[0].status.IsNoSpace());
}

// Throws from some calls, and calls the notifier from others.
class BadListener final : public EventListener {
 public:
  void OnTableDropped(const TableDroppedInfo&) override {
    ++calls;
    if (notifier != nullptr) notifier->Deliver();
    throw std::runtime_error("bad");
  }
  EventNotifier* notifier = nullptr;
  int calls = 0;
};

TEST(EventNotifier, AListenerThatThrowsIsCountedAndOthersAreTold) {
  const auto bad = std::make_shared<BadListener>();
  const auto good = std::make_shared<RecordingListener>();
  EventNotifier notifier({bad, good}, "/db");
  bad->notifier = &notifier;
  Drop(&notifier, "a");
  Drop(&notifier, "b");
  notifier.Deliver();
  EXPECT_EQ(bad->calls, 2);
  EXPECT_EQ(good->size(), 2u);
  EXPECT_EQ(notifier.listener_failures(), 2u);
}

TEST(EventNotifier, WhatThereIsNoMemoryForIsDroppedAndCounted) {
  const auto listener = std::make_shared<RecordingListener>();
  EventNotifier notifier({listener}, "/db");
  notifier.Queue(&EventListener::OnTableDropped,
                 []() -> TableDroppedInfo { throw std::bad_alloc(); });
  EXPECT_EQ(notifier.events_dropped(), 1u);
  for (size_t i = 0; i < EventNotifier::kQueuedMax + 2; ++i) Drop(&notifier, std::to_string(i));
  EXPECT_EQ(notifier.events_dropped(), 3u)
      << "the newest events must be dropped when too many wait";
  notifier.Deliver();
  EXPECT_EQ(listener->size(), EventNotifier::kQueuedMax);
}

TEST(EventNotifier, TellsOnceOfAStallHoweverOftenItIsMet) {
  const auto listener = std::make_shared<RecordingListener>();
  EventNotifier notifier({listener}, "/db");
  StallInfo flush, space;
  flush.cause = StallCause::kFlush;
  space.cause = StallCause::kSpaceLimit;
  EXPECT_FALSE(notifier.StallIs(std::nullopt, Status::OK(), 1));
  EXPECT_TRUE(notifier.StallIs(flush, Status::OK(), 10));
  EXPECT_FALSE(notifier.StallIs(flush, Status::OK(), 20));
  EXPECT_TRUE(notifier.is_stalled());
  EXPECT_TRUE(notifier.StallIs(space, Status::OK(), 30))
      << "a stall with another cause must be a new stall";
  EXPECT_TRUE(notifier.StallIs(std::nullopt, Status::NoSpace("full"), 45));
  EXPECT_FALSE(notifier.is_stalled());
  notifier.Deliver();
  const auto began = listener->All<StallInfo>(EventKind::kStallBegin);
  const auto ended = listener->All<StallInfo>(EventKind::kStallEnd);
  ASSERT_EQ(began.size(), 2u);
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].stall, began[0].stall);
  EXPECT_EQ(ended[0].cause, StallCause::kFlush);
  EXPECT_EQ(ended[0].duration_us, 20u);
  EXPECT_TRUE(ended[0].status.ok());
  EXPECT_EQ(ended[1].stall, began[1].stall);
  EXPECT_EQ(ended[1].duration_us, 15u);
  EXPECT_TRUE(ended[1].status.IsNoSpace());
}

TEST(EventNotifier, AfterTheEndNobodyIsTold) {
  const auto listener = std::make_shared<RecordingListener>();
  EventNotifier notifier({listener}, "/db");
  Drop(&notifier, "a");
  notifier.End();
  EXPECT_EQ(listener->size(), 1u) << "events that wait at the end must still be delivered";
  Drop(&notifier, "b");
  notifier.Deliver();
  EXPECT_EQ(listener->size(), 1u);
  EXPECT_EQ(notifier.events_dropped(), 0u);
}

// Records the order of events, and whether two threads were inside at once.
class OrderedListener final : public EventListener {
 public:
  void OnStallBegin(const StallInfo& info) override {
    if (inside_.exchange(true)) ++overlaps;
    if (info.duration_us < last_[info.memtables]) ++disorder;
    last_[info.memtables] = info.duration_us;
    ++told;
    inside_ = false;
  }
  std::atomic<uint64_t> overlaps{0}, disorder{0}, told{0};

 private:
  std::atomic<bool> inside_{false};
  uint64_t last_[4] = {};
};

TEST(EventNotifier, ThreadsDeliverOneAtATimeInTheOrderOfTheQueue) {
  constexpr uint64_t kEvents = 2000;
  const auto listener = std::make_shared<OrderedListener>();
  EventNotifier notifier({listener}, "/db");
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&notifier, t] {
      for (uint64_t i = 0; i < kEvents; ++i) {
        notifier.Queue(&EventListener::OnStallBegin, [t, i] {
          StallInfo info;
          info.memtables = t;
          info.duration_us = i;
          return info;
        });
        notifier.Deliver();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  notifier.End();
  EXPECT_EQ(listener->told + notifier.events_dropped(), 4 * kEvents);
  EXPECT_EQ(listener->overlaps, 0u);
  EXPECT_EQ(listener->disorder, 0u);
}

TEST(EventListener, NamesItsCauses) {
  EXPECT_EQ(NameOf(FlushCause::kSnapshot), "snapshot");
  EXPECT_EQ(NameOf(CompactionCause::kManual), "requested");
  EXPECT_EQ(NameOf(CollectionCause::kSpace), "short of space");
  EXPECT_EQ(NameOf(StallCause::kLevel0), "files of level 0");
  EXPECT_EQ(NameOf(SnapshotEnd::kGivenUp), "given up");
}

}  // namespace
}  // namespace lava
