// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Options, codes and packed bytes, without the native library. */
class ValueClassesTest {

    @Test
    void everyOptionOfAVolumeHasAPlaceInTheNativeForm() {
        VolumeOptions o =
                new VolumeOptions()
                        .setCapacityBytes(1)
                        .setDirectIo(false)
                        .setPowerSafe(true)
                        .setGrowBytes(2)
                        .setReserveBytes(3)
                        .setIdleReserveBytes(4);
        assertThat(o.toNative()).containsExactly(1, 0, 1, 2, 3, 4);
        assertThat(o.setDirectIo(true).setPowerSafe(false).toNative())
                .containsExactly(1, 1, 0, 2, 3, 4);
    }

    @Test
    void codesKeepTheirNumbers() {
        for (Status.Code code : Status.Code.values()) {
            assertThat(Status.Code.of(code.number())).isEqualTo(code);
        }
        assertThat(Status.Code.of(4711)).isEqualTo(Status.Code.INTERNAL);
        assertThat(new LavaDBException(10, "x").getCode()).isEqualTo(Status.Code.NEEDS_FILE);
    }

    @Test
    void tablesSurvivePacking() throws Exception {
        TableOptions o =
                new TableOptions()
                        .setKind(TableKind.LIST)
                        .setTtlLayout(TtlLayout.LIST)
                        .setTtlMs(Long.MAX_VALUE)
                        .setSeparationBytes(1L << 33);
        List<TableInfo> packed = List.of(new TableInfo("\u4e2d", (1L << 40) - 1, o));
        List<TableInfo> tables = new Decoder(Encoder.tables(packed)).tables();
        assertThat(tables).hasSize(1);
        assertThat(tables.get(0).name()).isEqualTo("\u4e2d");
        assertThat(tables.get(0).id()).isEqualTo((1L << 40) - 1);
        assertThat(tables.get(0).options()).isEqualTo(o).hasSameHashCodeAs(o);
        assertThat(new TableOptions(o)).isEqualTo(o).isNotEqualTo(new TableOptions());
        assertThat(new TableOptions(o).setSeparationBytes(5)).isNotEqualTo(o);
        assertThat(tables.get(0)).hasToString("\u4e2d (id ffffffffff) " + o);
        assertThatThrownBy(() -> TableKind.of(9))
                .isInstanceOf(LavaDBException.class)
                .hasMessageContaining("9");
        assertThatThrownBy(() -> TtlLayout.of(9)).isInstanceOf(LavaDBException.class);
    }

    @Test
    void aBatchIsTooLargeBeforeItsArrayIs() {
        WriteBatch batch = new WriteBatch();
        TableHandle t = new TableHandle(null, 1, "t", 1);
        byte[] value = new byte[100 << 20];
        byte[] k = {1};
        assertThatThrownBy(
                        () -> {
                            for (int i = 0; i < 11; i++) {
                                batch.put(t, k, 0, 1, 0, value, 0, value.length);
                                if (batch.count() == 1) {
                                    batch.length = (1 << 30) - 1000;
                                }
                            }
                        })
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("write and clear the batch");
    }
}
