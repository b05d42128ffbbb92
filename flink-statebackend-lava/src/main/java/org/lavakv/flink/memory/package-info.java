/**
 * Native memory: what a slot, or the TaskManager, gives to the instances in it.
 *
 * <p>Layer: uses the bindings only.
 */
package org.lavakv.flink.memory;
