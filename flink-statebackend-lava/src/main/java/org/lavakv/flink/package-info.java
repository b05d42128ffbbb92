/**
 * The state backend that Flink sees: factory, options, the keyed backend and its builder.
 *
 * <p>Layer: puts state, timers, snapshot, restore, memory and metrics together; none of them uses
 * this package.
 */
package org.lavakv.flink;
