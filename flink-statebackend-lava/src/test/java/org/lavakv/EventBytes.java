// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;

/** Events as the native library packs them, for the plugin's tests. Threads: one. */
public final class EventBytes {

    private static final int NO_CAUSE = 0xff;

    private final ByteArrayOutputStream events = new ByteArrayOutputStream();
    private long dropped;

    public EventBytes dropped(long count) {
        dropped = count;
        return this;
    }

    /**
     * One event more. Its message and its names are empty.
     *
     * @param cause null for kinds that have none
     * @param figure the value of each figure
     */
    public EventBytes add(
            EventKind kind,
            EventCause cause,
            Status.Code code,
            long id,
            long durationMicros,
            long figure) {
        ByteArrayOutputStream event = new ByteArrayOutputStream();
        event.write(kind.ordinal());
        event.write(cause == null ? NO_CAUSE : kind.causes().indexOf(cause));
        event.write(code.number());
        varint(event, System.currentTimeMillis());
        varint(event, id);
        varint(event, durationMicros);
        kind.figures().forEach(any -> varint(event, figure));
        varint(event, 0);
        events.writeBytes(ByteBuffer.allocate(2).putShort((short) event.size()).array());
        events.writeBytes(event.toByteArray());
        return this;
    }

    private static void varint(ByteArrayOutputStream out, long number) {
        long rest = number;
        for (; rest >= 0x80; rest >>>= 7) {
            out.write((int) (rest & 0x7f | 0x80));
        }
        out.write((int) rest);
    }

    /** All of them. */
    public EngineEvents take() throws LavaDBException {
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES + events.size());
        bytes.putLong(dropped).put(events.toByteArray());
        events.reset();
        dropped = 0;
        return EngineEvents.decode(bytes.array());
    }
}
