package org.lavakv.flink.conformance;

/** TTL with incremental checkpoints. */
class LavaIncrementalTtlStateTest extends AbstractLavaTtlStateTest {

    @Override
    boolean incremental() {
        return true;
    }
}
