/**
 * Random lives of a job: what its keyed state should hold, a JobManager made of Flink's own parts,
 * tasks whose uploads and notifications go wrong, and storage that fails.
 */
package org.lavakv.flink.history;
