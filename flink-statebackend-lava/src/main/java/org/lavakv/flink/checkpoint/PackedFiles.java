// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Which of a checkpoint's files are in packs. A pack is one file of the checkpoint's storage that
 * contains several small files, one after the other. Files of a pack that the checkpoint does not
 * need any more are not listed.
 *
 * <p>Bytes, big endian: number of packs (4); for each its name, number of files (4), and for each
 * of these its name, offset (8) and length (8). A name is its length (2) and ASCII.
 *
 * <p>Threads: immutable.
 */
public final class PackedFiles {

    /** No file is in a pack. */
    public static final PackedFiles NONE = new PackedFiles(Collections.emptyMap());

    private static final int NAME_BYTES_MAX = 255;
    private static final int PACK_BYTES_MIN = Short.BYTES + 1 + Integer.BYTES;
    private static final int FILE_BYTES_MIN = Short.BYTES + 1 + 2 * Long.BYTES;

    /** The location of a file in a pack. Threads: immutable. */
    public static final class Location {
        private final String pack;
        private final long offset;
        private final long bytes;

        /** Neither number may be negative. */
        public Location(String pack, long offset, long bytes) {
            this.pack = pack;
            this.offset = offset;
            this.bytes = bytes;
        }

        /** The pack's name among the handle's files. */
        public String pack() {
            return pack;
        }

        /** The offset of the file in its pack. */
        public long offset() {
            return offset;
        }

        /** The file's length. */
        public long bytes() {
            return bytes;
        }

        /** Whether the file fits into a pack of this length. */
        public boolean liesWithin(long packBytes) {
            return offset <= packBytes && bytes <= packBytes - offset;
        }

        @Override
        public String toString() {
            return bytes + " bytes from offset " + offset + " of the pack " + pack;
        }
    }

    private final Map<String, Location> locations;

    private PackedFiles(Map<String, Location> locations) {
        this.locations = locations;
    }

    /**
     * @param locations by the file's name
     */
    public static PackedFiles of(Map<String, Location> locations) {
        return new PackedFiles(Collections.unmodifiableMap(new LinkedHashMap<>(locations)));
    }

    /** The location of a file, or null when it is not in a pack. */
    @Nullable
    public Location of(String file) {
        return locations.get(file);
    }

    /** The names of all files that are in packs. */
    public Set<String> files() {
        return locations.keySet();
    }

    /** A copy without the files of unwanted packs. */
    PackedFiles only(Predicate<String> packs) {
        Map<String, Location> kept = new LinkedHashMap<>();
        locations.forEach(
                (file, location) -> {
                    if (packs.test(location.pack())) {
                        kept.put(file, location);
                    }
                });
        return of(kept);
    }

    void write(DataOutputSerializer out) throws IOException {
        Map<String, List<String>> byPack = new TreeMap<>();
        locations.forEach(
                (file, location) ->
                        byPack.computeIfAbsent(location.pack(), pack -> new ArrayList<>())
                                .add(file));
        out.writeInt(byPack.size());
        for (Map.Entry<String, List<String>> pack : byPack.entrySet()) {
            writeName(out, pack.getKey());
            out.writeInt(pack.getValue().size());
            for (String file : pack.getValue()) {
                writeName(out, file);
                out.writeLong(locations.get(file).offset());
                out.writeLong(locations.get(file).bytes());
            }
        }
    }

    private static void writeName(DataOutputSerializer out, String name) throws IOException {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        out.writeShort(bytes.length);
        out.write(bytes);
    }

    /**
     * Reads what {@link #write} wrote.
     *
     * @param in contains nothing else; after a failure its position is where the error was found
     * @throws IOException saying what is wrong there
     */
    static PackedFiles read(ByteBuffer in) throws IOException {
        Map<String, Location> locations = new LinkedHashMap<>();
        int packs = count(in, PACK_BYTES_MIN);
        for (int i = 0; i < packs; i++) {
            String pack = name(in);
            int files = count(in, FILE_BYTES_MIN);
            for (int j = 0; j < files; j++) {
                String file = name(in);
                check(in.remaining() >= 2 * Long.BYTES, "the location of a file is cut off");
                Location location = new Location(pack, in.getLong(), in.getLong());
                check(
                        location.offset() >= 0 && location.bytes() >= 0,
                        "the location of a file has a negative number");
                check(locations.put(file, location) == null, "a file is at two locations");
            }
        }
        check(!in.hasRemaining(), "there are more bytes after the last pack");
        return of(locations);
    }

    /** Reads the number of items that follow, each of at least {@code bytesMin} bytes. */
    private static int count(ByteBuffer in, int bytesMin) throws IOException {
        check(in.remaining() >= Integer.BYTES, "a number is cut off");
        int count = in.getInt();
        check(count >= 0 && count <= in.remaining() / bytesMin, "a number is too large");
        return count;
    }

    private static String name(ByteBuffer in) throws IOException {
        check(in.remaining() >= Short.BYTES, "a name is cut off");
        int length = in.getShort();
        check(
                length > 0 && length <= NAME_BYTES_MAX && length <= in.remaining(),
                "the length of a name is impossible");
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    private static void check(boolean right, String wrong) throws IOException {
        if (!right) {
            throw new IOException(wrong);
        }
    }
}
