// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;

/** A buffered stream has the stream's content, in fewer calls. */
class BufferedInputTest {

    private static final int BYTES = 300_000;

    /** Counts calls. Sometimes returns fewer bytes than requested, as streams may. */
    private static final class Counting extends FSDataInputStream {
        private final FSDataInputStream in;
        private int calls;

        Counting(FSDataInputStream in) {
            this.in = in;
        }

        @Override
        public void seek(long to) throws IOException {
            in.seek(to);
        }

        @Override
        public long getPos() throws IOException {
            return in.getPos();
        }

        @Override
        public int read() throws IOException {
            calls++;
            return in.read();
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            calls++;
            return in.read(to, offset, calls % 3 == 0 ? Math.min(length, 1000) : length);
        }
    }

    private static byte[] content() {
        byte[] content = new byte[BYTES];
        new Random(5).nextBytes(content);
        return content;
    }

    private static Counting stream(byte[] content) throws IOException {
        return new Counting(new ByteStreamStateHandle("bytes", content).openInputStream());
    }

    @Test
    void readsAndSeeksAsTheStreamDoes() throws Exception {
        byte[] content = content();
        Random random = new Random(7);
        BufferedInput in = new BufferedInput(stream(content));
        int at = 0;
        for (int i = 0; i < 5000; i++) {
            int what = random.nextInt(10);
            if (what == 0) {
                at = random.nextInt(BYTES + 1);
                in.seek(at);
            } else if (what == 1) {
                at = Math.max(0, Math.min(BYTES, at + random.nextInt(200) - 100));
                in.seek(at);
            } else if (what < 6) {
                assertThat(in.read()).isEqualTo(at < BYTES ? content[at] & 0xff : -1);
                at = Math.min(BYTES, at + 1);
            } else {
                byte[] to = new byte[1 + random.nextInt(what == 9 ? 100_000 : 50)];
                int read = in.readNBytes(to, 0, to.length);
                assertThat(read).isEqualTo(Math.min(to.length, BYTES - at));
                assertThat(Arrays.copyOf(to, read))
                        .isEqualTo(Arrays.copyOfRange(content, at, at + read));
                at += read;
            }
            assertThat(in.getPos()).isEqualTo(at);
        }
    }

    @Test
    void beginsWhereTheStreamStands() throws Exception {
        byte[] content = content();
        Counting stream = stream(content);
        stream.seek(70_000);
        BufferedInput in = new BufferedInput(stream);
        assertThat(in.getPos()).isEqualTo(70_000);
        assertThat(in.read()).isEqualTo(content[70_000] & 0xff);
    }

    @Test
    void makesACallForManyBytes() throws Exception {
        Counting stream = stream(content());
        BufferedInput in = new BufferedInput(stream);
        while (in.read() >= 0) {
            assertThat(in.getPos()).isLessThanOrEqualTo(BYTES);
        }
        assertThat(stream.calls).isLessThan(20);
    }
}
