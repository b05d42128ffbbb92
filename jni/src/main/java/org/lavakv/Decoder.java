package org.lavakv;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads what the native library packs into one array: big endian, lengths before bytes. */
final class Decoder {

    private final ByteBuffer in;

    Decoder(byte[] bytes) {
        in = ByteBuffer.wrap(bytes);
    }

    int int32() {
        return in.getInt();
    }

    long int64() {
        return in.getLong();
    }

    byte[] bytes() {
        byte[] bytes = new byte[in.getInt()];
        in.get(bytes);
        return bytes;
    }

    String string() {
        return new String(bytes(), StandardCharsets.UTF_8);
    }

    /** Arrays with their lengths before them, null for a length of -1. */
    byte[][] nullableArrays(int count) {
        byte[][] arrays = new byte[count][];
        for (int i = 0; i < count; i++) {
            int length = in.getInt();
            if (length >= 0) {
                arrays[i] = new byte[length];
                in.get(arrays[i]);
            }
        }
        return arrays;
    }

    List<TableInfo> tables() throws LavaDBException {
        int count = in.getInt();
        List<TableInfo> tables = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            String name = string();
            long id = in.getLong();
            TableOptions options =
                    new TableOptions()
                            .setKind(TableKind.of(in.get()))
                            .setTtlLayout(TtlLayout.of(in.get()))
                            .setTtlMs(in.getLong())
                            .setSeparationBytes(in.getLong());
            tables.add(new TableInfo(name, id, options));
        }
        return tables;
    }

    List<FileInfo> files() {
        int count = in.getInt();
        List<FileInfo> files = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            files.add(new FileInfo(string(), in.getLong(), in.getInt()));
        }
        return files;
    }
}
