// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import org.junit.platform.suite.api.ConfigurationParameter;
import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/**
 * Flink's own savepoints of versions 1.8 to 2.2, taken on RocksDB and on the heap backend, restored
 * on Lava; and serializer upgrades.
 */
@Suite
@SelectClasses(
        names = {
            "org.apache.flink.test.typeserializerupgrade.PojoSerializerUpgradeTest",
            "org.apache.flink.test.checkpointing.StatefulJobSnapshotMigrationITCase",
        })
@ConfigurationParameter(key = "junit.jupiter.extensions.autodetection.enabled", value = "true")
public class FlinkMigrationITCase extends ShadowedBackend {}
