package org.lavakv.flink.programs;

import java.util.List;

/**
 * A step of a program. It depends on nothing but itself and on what the job holds, so that a
 * program without some of its steps is a program, too; a step that makes no sense then does
 * nothing.
 *
 * <p>Threads: without state. {@link Object#toString} says what is done, in full.
 */
abstract class Step {

    /**
     * Does it to one job.
     *
     * @return what can be seen of it, in a form that is the same on all backends
     */
    abstract Object run(Job job) throws Exception;

    /** The cells whose content is compared behind this step. */
    List<Cell> cells() {
        return List.of();
    }

    /** Whether values may be shown behind this step that had expired before. */
    boolean showsExpiredAgain() {
        return false;
    }

    /** Whether everything that the jobs hold is compared behind this step. */
    boolean comparesAll() {
        return false;
    }
}
