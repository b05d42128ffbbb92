/**
 * Where an instance's data files are: in a directory of the machine, or in a volume that all
 * instances of the process share.
 *
 * <p>Uses nothing of the other packages.
 */
package org.lavakv.flink.storage;
