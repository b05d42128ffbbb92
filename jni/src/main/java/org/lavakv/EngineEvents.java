// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;

/**
 * The events that {@link LavaDB#takeEvents} returns.
 *
 * <p>Threads: immutable.
 */
public final class EngineEvents {

    private static final EngineEvents NONE = new EngineEvents(List.of(), 0);

    private final List<EngineEvent> events;
    private final long dropped;

    private EngineEvents(List<EngineEvent> events, long dropped) {
        this.events = events;
        this.dropped = dropped;
    }

    /** Oldest first. */
    public List<EngineEvent> events() {
        return events;
    }

    /**
     * How many older events did not fit into the buffer since the call before. So a begin may lack
     * its end, or an end its begin.
     */
    public long dropped() {
        return dropped;
    }

    static EngineEvents take(LavaDB db) throws LavaDBException {
        try {
            return decode(take0(db.handle));
        } finally {
            Reference.reachabilityFence(db); // because the native call is static
        }
    }

    static EngineEvents decode(byte[] bytes) throws LavaDBException {
        if (bytes.length == 0) {
            return NONE;
        }
        Decoder in = new Decoder(bytes);
        long dropped = in.notNegative();
        List<EngineEvent> events = new ArrayList<>();
        while (in.hasMore()) {
            events.add(new EngineEvent(in.shortPart()));
        }
        return new EngineEvents(List.copyOf(events), dropped);
    }

    static native byte[] take0(long handle) throws LavaDBException;
}
