package org.lavakv.flink.changelog;

import org.apache.flink.runtime.state.StreamStateHandle;

/** Where a set of changes is. Threads: immutable. Units: bytes. */
final class UploadedChanges {
    final StreamStateHandle file;
    final long offset;
    final long bytes;

    UploadedChanges(StreamStateHandle file, long offset, long bytes) {
        this.file = file;
        this.offset = offset;
        this.bytes = bytes;
    }
}
