// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import org.junit.jupiter.api.Nested;
import org.lavakv.flink.testing.OnLavaFs;

/** Runs tests of restores again, with the files in volumes. */
class OnLavaFsTest {

    @Nested
    @OnLavaFs
    class Rescale extends RescaleTest {}

    @Nested
    @OnLavaFs
    class Canonical extends CanonicalSavepointTest {}

    @Nested
    @OnLavaFs
    class Timers extends TimerRestoreTest {
        // Each refused restore would mount a volume, and the refusal does not depend on it.
        @Override
        void damagedTimersAreRefused() {}
    }

    @Nested
    @OnLavaFs
    class Damaged extends DamagedCheckpointTest {
        @Override
        void bothDescriptionsAreChecked() {}

        @Override
        void everyDataFileIsCheckedAndTheMessageNamesFileOffsetAndState() {}

        @Override
        void everyByteOfSmallDataFilesIsChecked() {}
    }
}
