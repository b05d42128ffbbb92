/**
 * Checkpoints and savepoints: which files a checkpoint consists of, how they are uploaded, which of
 * them a later checkpoint may reuse, and Flink's canonical format.
 *
 * <p>Layer: uses engine, storage and the bindings ({@code org.lavakv}); restore uses this package,
 * never the other way round.
 */
package org.lavakv.flink.snapshot;
