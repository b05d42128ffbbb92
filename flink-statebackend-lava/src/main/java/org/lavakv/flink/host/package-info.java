/**
 * The state of the host on one page: what the process's native memory, cache, jobs and instances
 * are at, as a file and as a line in the log. See docs/lava-inspect.md.
 */
package org.lavakv.flink.host;
