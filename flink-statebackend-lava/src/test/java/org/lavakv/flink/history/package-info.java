// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Random histories of a job: a model of its keyed state, a JobManager built from Flink's own parts,
 * tasks with faulty uploads and notifications, and storage that fails.
 */
package org.lavakv.flink.history;
