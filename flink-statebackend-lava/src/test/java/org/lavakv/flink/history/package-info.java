/**
 * Random histories of a job: a model of its keyed state, a JobManager built from Flink's own parts,
 * tasks with faulty uploads and notifications, and storage that fails.
 */
package org.lavakv.flink.history;
