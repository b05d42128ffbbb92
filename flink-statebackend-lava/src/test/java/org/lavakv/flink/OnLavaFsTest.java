// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import org.junit.jupiter.api.Nested;
import org.lavakv.flink.testing.OnLavaFs;

/** Runs tests of backends again, with the files in volumes. */
class OnLavaFsTest {

    @Nested
    @OnLavaFs
    class Space extends SpaceLimitTest {}

    @Nested
    @OnLavaFs
    class Cancellation extends CancellationTest {}

    @Nested
    @OnLavaFs
    class Hanging extends HangingUploadTest {}

    @Nested
    @OnLavaFs
    class Dispose extends QueryAndDisposeTest {}

    @Nested
    @OnLavaFs
    class OnDemand extends OnDemandRestoreTest {}
}
