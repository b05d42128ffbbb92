/**
 * The engine's counters as Flink metrics.
 *
 * <p>Layer: uses engine, snapshot and the bindings.
 */
package org.lavakv.flink.metrics;
