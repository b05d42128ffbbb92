package org.lavakv.flink.snapshot;

/** Which files of a checkpoint travel together. Threads: immutable. */
public final class PackLimits {

    private final long fileBytes;
    private final long packBytes;

    /**
     * @param fileBytes files below this size are packed; 0: none
     * @param packBytes no further file goes into a pack that it would take beyond this
     */
    public PackLimits(long fileBytes, long packBytes) {
        this.fileBytes = fileBytes;
        this.packBytes = packBytes;
    }

    long fileBytes() {
        return fileBytes;
    }

    long packBytes() {
        return packBytes;
    }
}
