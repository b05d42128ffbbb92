#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "testing/count.h"
#include "testing/variable.h"
#include "tests/history/generator.h"
#include "tests/history/lava_store.h"
#include "tests/history/player.h"
#include "tests/rocksdb/rocksdb_store.h"

// LavaKV and RocksDB are asked the same: an oracle that others wrote.
namespace lava::testing {
namespace {

TEST(RocksDBDifferential, BothAnswerTheSame) {
  const uint64_t first = Variable("LAVA_TEST_SEED", 1);
  const uint64_t histories = Variable("LAVA_TEST_HISTORIES", 100);
  GeneratorOptions options;
  options.operations = Variable("LAVA_TEST_OPERATIONS", 1000);
  uint64_t played = 0;
  for (uint64_t seed = first; seed < first + histories && !HasFailure(); ++seed) {
    SCOPED_TRACE("LAVA_TEST_SEED=" + std::to_string(seed));
    const std::unique_ptr<Store> rocksdb = NewRocksDBStore();
    LavaStore lava(OptionSetAt(static_cast<uint32_t>(seed)), seed);
    ASSERT_TRUE(lava.Open().ok());
    Player expected(rocksdb.get()), found(&lava);
    const History history = GenerateHistory(seed, options);
    for (size_t i = 0; i < history.size(); ++i)
      ASSERT_EQ(found.Apply(history[i]), expected.Apply(history[i]))
          << "operation " << i << ": " << Describe(history[i]);
    ASSERT_EQ(found.AtEnd(), expected.AtEnd());
    ++played;
  }
  Count(played, "histories answered as RocksDB answers them");
}

}  // namespace
}  // namespace lava::testing
