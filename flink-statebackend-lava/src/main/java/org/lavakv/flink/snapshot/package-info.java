/**
 * Checkpoints and savepoints: which files a checkpoint consists of, how they are uploaded, which of
 * them a later checkpoint may reuse, and Flink's canonical format.
 *
 * <p>Layer: uses checkpoint, engine, storage and the bindings ({@code org.lavakv}). Snapshot and
 * restore do not know each other.
 */
package org.lavakv.flink.snapshot;
