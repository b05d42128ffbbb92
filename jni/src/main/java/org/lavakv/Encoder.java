// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Packs the arguments of infrequent calls into one array: big endian, lengths first. */
final class Encoder {

    private Encoder() {}

    private interface Body {
        void writeTo(DataOutputStream out) throws IOException;
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static byte[] imports(List<ImportSource> imports) {
        return pack(
                out -> {
                    out.writeInt(imports.size());
                    for (ImportSource source : imports) {
                        out.writeInt(source.partitionFirst());
                        out.writeInt(source.partitionLast());
                        out.writeInt(source.metadata().length);
                        out.write(source.metadata());
                        writeStrings(out, source.missing());
                    }
                });
    }

    static byte[] tables(List<TableInfo> tables) {
        return pack(
                out -> {
                    out.writeInt(tables.size());
                    for (TableInfo table : tables) {
                        byte[] name = NameBytes.of(table.name());
                        out.writeInt(name.length);
                        out.write(name);
                        out.writeLong(table.id());
                        TableOptions options = table.options();
                        out.writeByte(options.kind().number());
                        out.writeByte(options.ttlLayout().number());
                        out.writeLong(options.ttlMs());
                        out.writeLong(options.separationBytes());
                    }
                });
    }

    static byte[] strings(List<String> strings) {
        return pack(out -> writeStrings(out, strings));
    }

    private static void writeStrings(DataOutputStream out, List<String> strings)
            throws IOException {
        out.writeInt(strings.size());
        for (String string : strings) {
            byte[] bytes = utf8(string);
            out.writeInt(bytes.length);
            out.write(bytes);
        }
    }

    private static byte[] pack(Body body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            body.writeTo(new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException("packing arguments in memory", e);
        }
        return bytes.toByteArray();
    }
}
