// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/**
 * Flink's own tests of the state processor API on Lava, as far as they take the backend from the
 * job's configuration; and those with a reader or writer on one of Flink's backends, with a job on
 * Lava.
 */
@Suite
@SelectClasses(
        names = {
            "org.apache.flink.state.api.EmbeddedRocksDBStateBackendReaderKeyedStateITCase",
            "org.apache.flink.state.api.EmbeddedRocksDBStateBackendWindowITCase",
            "org.apache.flink.state.api.HashMapStateBackendReaderKeyedStateITCase",
            "org.apache.flink.state.api.SavepointReaderITCase",
            "org.apache.flink.state.api.SavepointReaderUidHashITCase",
            "org.apache.flink.state.api.SavepointWriterITCase",
            "org.apache.flink.state.api.SavepointWriterUidModificationITCase",
            "org.apache.flink.state.api.SavepointWriterWindowITCase",
        })
public class FlinkStateProcessorLongITCase extends ShadowedHashMap {}
