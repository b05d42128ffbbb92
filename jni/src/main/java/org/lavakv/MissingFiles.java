package org.lavakv;

/**
 * Brings files that were imported before they were there, when reads ask for them.
 *
 * <p>Threads: called by any thread that reads, also by several for the same file.
 */
public interface MissingFiles {

    /**
     * Returns once {@link LavaDB#fileArrived} was called for the file, by whomever; the read then
     * goes on.
     *
     * @param name a file's name in the instance's directory
     * @throws LavaDBException when that fails, or is given up: the read ends with it
     */
    void bring(String name) throws LavaDBException;
}
