package org.lavakv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.lavakv.FileInfo;

class CheckpointDescriptionTest {

    private static final byte[] STATE_META = {1, 2, 3, 4, 5};
    private static final byte[] METADATA = {9, 8, 7};
    private static final FileInfo TIMERS = new FileInfo("LAVA-TIMERS", 77, 5);

    private static byte[] written() throws IOException {
        return CheckpointDescription.of(2, STATE_META, TIMERS, METADATA).toBytes();
    }

    @Test
    void readsWhatItWrote() throws IOException {
        CheckpointDescription read = CheckpointDescription.parse(written(), "f");
        assertThat(read.keyGroupPrefixBytes()).isEqualTo(2);
        assertThat(read.engineMetadata()).isEqualTo(METADATA);
        assertThatCode(() -> read.checkStateMeta(STATE_META, "m")).doesNotThrowAnyException();
    }

    @Test
    void everyFlippedBitIsRefusedWithFileAndOffset() throws IOException {
        byte[] bytes = written();
        for (int bit = 0; bit < bytes.length * 8; bit++) {
            byte[] damaged = bytes.clone();
            damaged[bit / 8] ^= (byte) (1 << (bit % 8));
            assertThatThrownBy(() -> CheckpointDescription.parse(damaged, "the-file"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("the-file")
                    .hasMessageContaining("offset");
        }
    }

    @Test
    void everyLengthIsRefusedButItsOwn() throws IOException {
        byte[] bytes = written();
        for (int length = 0; length <= bytes.length + 3; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            if (length != bytes.length) {
                assertThatThrownBy(() -> CheckpointDescription.parse(cut, "the-file"))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("the-file")
                        .hasMessageContaining("offset");
            }
        }
    }

    @Test
    void newerVersionIsRefusedNamingBoth() throws IOException {
        byte[] bytes = written();
        bytes[11] = 7;
        java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
        crc.update(bytes, 0, bytes.length - 4);
        java.nio.ByteBuffer.wrap(bytes).putInt(bytes.length - 4, (int) crc.getValue());
        assertThatThrownBy(() -> CheckpointDescription.parse(bytes, "the-file"))
                .hasMessageContaining("version 7")
                .hasMessageContaining("up to 1");
    }

    @Test
    void changedStateDescriptionIsRefused() throws IOException {
        CheckpointDescription read = CheckpointDescription.parse(written(), "f");
        assertThatThrownBy(() -> read.checkStateMeta(new byte[] {1, 2, 3, 4, 6}, "the-meta"))
                .hasMessageContaining("the-meta")
                .hasMessageContaining("checksum");
        assertThatThrownBy(() -> read.checkStateMeta(new byte[] {1, 2, 3}, "the-meta"))
                .hasMessageContaining("offset 3");
    }
}
