// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips those runs of Flink's migration tests that restore RocksDB's own files (native savepoints
 * and checkpoints), because only RocksDB reads them. Canonical savepoints taken on RocksDB, and
 * everything taken on the heap backend, are included.
 */
public class NativeRocksDbFixtureCondition implements ExecutionCondition {
    private static final Pattern NATIVE_ROCKSDB =
            Pattern.compile("rocksdb.*(checkpoint|native)", Pattern.CASE_INSENSITIVE);

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return NATIVE_ROCKSDB.matcher(context.getDisplayName()).find()
                ? ConditionEvaluationResult.disabled("RocksDB's own files: only RocksDB reads them")
                : ConditionEvaluationResult.enabled("readable by any backend");
    }
}
