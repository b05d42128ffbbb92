// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * An event of an instance's own work: what its kind says, with cause, figures and status. Events
 * hold no keys and no values.
 *
 * <p>Threads: immutable.
 */
public final class EngineEvent {

    private static final int NO_CAUSE = 0xff;

    private final EventKind kind;
    private final EventCause cause;
    private final Status.Code code;
    private final long timeMillis;
    private final long id;
    private final long durationMicros;
    private final EnumMap<EventFigure, Long> figures = new EnumMap<>(EventFigure.class);
    private final String message;
    private final List<String> names = new ArrayList<>();

    /** Reads one event, all that the decoder has. */
    EngineEvent(Decoder in) throws LavaDBException {
        int number = in.unsigned8();
        if (number >= EventKind.values().length) {
            throw in.malformed("has an event of the unknown kind " + number);
        }
        kind = EventKind.values()[number];
        cause = cause(in, in.unsigned8());
        code = Status.Code.of(in.unsigned8());
        timeMillis = in.varint();
        id = in.varint();
        durationMicros = in.varint();
        for (EventFigure figure : kind.figures()) {
            figures.put(figure, in.varint());
        }
        message = in.shortString();
        while (in.hasMore()) {
            names.add(in.shortString());
        }
    }

    private EventCause cause(Decoder in, int number) throws LavaDBException {
        if (number == NO_CAUSE) {
            if (kind.causes().isEmpty()) {
                return null;
            }
        } else if (number < kind.causes().size()) {
            return kind.causes().get(number);
        }
        throw in.malformed("has an event of kind " + kind + " with the unknown cause " + number);
    }

    public EventKind kind() {
        return kind;
    }

    /** Null for kinds that have no cause. */
    public EventCause cause() {
        return cause;
    }

    /**
     * The result of what ended or was done; of damage and background errors the failure. OK for
     * events that begin something.
     */
    public Status.Code code() {
        return code;
    }

    /** The message of the status, perhaps cut; empty for OK. */
    public String message() {
        return message;
    }

    /** When the engine told of the event, milliseconds since the epoch. */
    public long timeMillis() {
        return timeMillis;
    }

    /**
     * Joins begin and end of a job, of a stall or of a snapshot: each has numbers of its own. 0 for
     * other kinds.
     */
    public long id() {
        return id;
    }

    /** How long the job, the stall or the snapshot lasted; 0 for other kinds and for begins. */
    public long durationMicros() {
        return durationMicros;
    }

    /**
     * Files and tables that the event is about. Long names are cut, and tables that do not fit into
     * an event any more are left out.
     */
    public List<String> names() {
        return List.copyOf(names);
    }

    /** The figures that the kind has, in the order of {@link EventFigure}. */
    public Map<EventFigure, Long> figures() {
        return new EnumMap<>(figures);
    }

    /**
     * One figure.
     *
     * @throws IllegalArgumentException when the kind does not have it
     */
    public long get(EventFigure figure) {
        Long value = figures.get(figure);
        if (value == null) {
            throw new IllegalArgumentException(kind + " has no " + figure);
        }
        return value;
    }

    /** One line for logs. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(words(kind));
        if (id != 0) {
            text.append(' ').append(id);
        }
        String separator = ": ";
        if (cause != null) {
            text.append(separator).append(cause.text());
            separator = ", ";
        }
        for (String name : names) {
            text.append(separator).append(name);
            separator = ", ";
        }
        for (Map.Entry<EventFigure, Long> figure : figures.entrySet()) {
            text.append(separator).append(words(figure.getKey())).append(' ');
            text.append(figure.getValue());
            separator = ", ";
        }
        if (durationMicros != 0) {
            text.append(separator).append(durationMicros).append(" us");
            separator = ", ";
        }
        if (code != Status.Code.OK) {
            text.append(separator).append(code);
            text.append(message.isEmpty() ? "" : ": " + message);
        }
        return text.toString();
    }

    private static String words(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
