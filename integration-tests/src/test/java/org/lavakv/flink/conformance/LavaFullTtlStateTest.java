package org.lavakv.flink.conformance;

/** TTL with full checkpoints. */
class LavaFullTtlStateTest extends AbstractLavaTtlStateTest {

    @Override
    boolean incremental() {
        return false;
    }
}
