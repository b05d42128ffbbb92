/**
 * Where an instance's data files are: in a directory of the machine, or in a volume shared by all
 * instances of the process.
 *
 * <p>Layer: uses the bindings ({@code org.lavakv}) only.
 */
package org.lavakv.flink.storage;
