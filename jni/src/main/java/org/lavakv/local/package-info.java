/**
 * What a process keeps on the machine that it runs on: for its user alone, and removed by the next
 * process when its own one was killed.
 *
 * <p>Of the other packages uses only the log.
 */
package org.lavakv.local;
