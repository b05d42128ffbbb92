// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

/** Texts that programs write, and their printed form. */
final class Texts {

    private static final int SHOWN_MAX = 48;

    private Texts() {}

    /** A text of approximately this many characters, different for each number. */
    static String of(int number, int size) {
        StringBuilder text = new StringBuilder(size + 12).append(number);
        int state = number * 31 + 7;
        while (text.length() < size) {
            state = state * 1_103_515_245 + 12_345;
            text.append((char) ('!' + (state >>> 16 & 63)));
        }
        return text.toString();
    }

    /** The text itself; for a long one its begin, length and hash. */
    static String shown(Object what) {
        String text = String.valueOf(what);
        return text.length() <= SHOWN_MAX
                ? text.replaceAll("\\p{Cntrl}", "?")
                : text.substring(0, 12).replaceAll("\\p{Cntrl}", "?")
                        + "~"
                        + text.length()
                        + "~"
                        + Integer.toHexString(text.hashCode());
    }
}
