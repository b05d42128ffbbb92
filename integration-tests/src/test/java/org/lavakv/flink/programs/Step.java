// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.List;

/**
 * A step of a program. It depends only on itself and on the content of the job. Therefore a program
 * without some of its steps is a valid program, too; a step that no longer makes sense does
 * nothing.
 *
 * <p>Threads: without state. {@link Object#toString} describes the step completely.
 */
abstract class Step {

    /**
     * Runs the step on one job.
     *
     * @return its visible result, in a form that is the same on all backends
     */
    abstract Object run(Job job) throws Exception;

    /** The cells whose content is compared after this step. */
    List<Cell> cells() {
        return List.of();
    }

    /** Whether values that had expired before may be shown after this step. */
    boolean showsExpiredAgain() {
        return false;
    }

    /** Whether the whole content of the jobs is compared after this step. */
    boolean comparesAll() {
        return false;
    }
}
