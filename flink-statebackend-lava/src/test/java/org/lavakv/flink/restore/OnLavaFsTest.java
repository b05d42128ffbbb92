package org.lavakv.flink.restore;

import org.junit.jupiter.api.Nested;
import org.lavakv.flink.testing.OnLavaFs;

/** Tests of restores once more, with the files in volumes. */
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
        // Each refused restore mounts a volume; that they are refused has nothing to do with it.
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
