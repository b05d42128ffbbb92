// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Names of tables as bytes: UTF-8, with an unpaired surrogate encoded as the three bytes of its
 * number. Therefore different names always have different bytes, as in Flink's formats.
 */
final class NameBytes {

    /** The first byte of an encoded surrogate. */
    private static final int LEAD = 0xed;

    private static final int BYTES = 3;

    private NameBytes() {}

    static byte[] of(String name) {
        ByteArrayOutputStream bytes = null;
        int done = 0;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (!Character.isSurrogate(c)) {
                continue;
            }
            if (i + 1 < name.length() && Character.isSurrogatePair(c, name.charAt(i + 1))) {
                i++;
                continue;
            }
            if (bytes == null) {
                bytes = new ByteArrayOutputStream(name.length() + BYTES);
            }
            bytes.writeBytes(name.substring(done, i).getBytes(StandardCharsets.UTF_8));
            bytes.write(LEAD);
            bytes.write(0x80 | c >> 6 & 0x3f);
            bytes.write(0x80 | c & 0x3f);
            done = i + 1;
        }
        if (bytes == null) {
            return name.getBytes(StandardCharsets.UTF_8);
        }
        bytes.writeBytes(name.substring(done).getBytes(StandardCharsets.UTF_8));
        return bytes.toByteArray();
    }

    static String toName(byte[] bytes) {
        StringBuilder name = new StringBuilder(bytes.length);
        int done = 0;
        for (int i = 0; i + BYTES <= bytes.length; i++) {
            if ((bytes[i] & 0xff) == LEAD
                    && (bytes[i + 1] & 0xe0) == 0xa0
                    && (bytes[i + 2] & 0xc0) == 0x80) {
                name.append(new String(bytes, done, i - done, StandardCharsets.UTF_8));
                name.append((char) (0xd000 | (bytes[i + 1] & 0x3f) << 6 | bytes[i + 2] & 0x3f));
                done = i + BYTES;
                i = done - 1;
            }
        }
        return name.append(new String(bytes, done, bytes.length - done, StandardCharsets.UTF_8))
                .toString();
    }
}
