package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackendFactory;
import org.junit.platform.suite.api.AfterSuite;
import org.junit.platform.suite.api.BeforeSuite;

/**
 * What all suites of Flink's own end-to-end tests share: the proof that they ran on Lava, by the
 * count of the shadowed factory.
 */
abstract class ShadowedBackend {
    private static long createdBefore;

    @BeforeSuite
    static void count() {
        createdBefore = EmbeddedRocksDBStateBackendFactory.created();
    }

    @AfterSuite
    static void ranOnLava() {
        assertThat(EmbeddedRocksDBStateBackendFactory.created())
                .as("state backends that the suite created through the shadowed factory")
                .isGreaterThan(createdBefore);
    }
}
