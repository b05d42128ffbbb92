// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.ttl.TtlStateFactory.TtlSerializer;
import org.apache.flink.runtime.state.ttl.TtlValue;
import org.junit.jupiter.api.Test;
import org.lavakv.flink.engine.ListSegments;

class CanonicalListsTest {

    private static final TypeSerializer<TtlValue<String>> ELEMENTS =
            new TtlSerializer<>(LongSerializer.INSTANCE, StringSerializer.INSTANCE);

    private static final int[] THREE_ELEMENTS = {
        ListSegments.ELEMENT, ListSegments.ELEMENT, ListSegments.ELEMENT
    };
    private static final int[] JOINED = {ListSegments.JOINED};

    /** A list with delimiters inside the strings and their timestamps. */
    private static byte[] list() throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        ELEMENTS.serialize(new TtlValue<>(",", 0x2c2c2cL), out);
        out.writeByte(ListSegments.DELIMITER);
        ELEMENTS.serialize(new TtlValue<>("", 1), out);
        out.writeByte(ListSegments.DELIMITER);
        ELEMENTS.serialize(new TtlValue<>("c,".repeat(100), 2), out);
        return out.getCopyOfBuffer();
    }

    private static CanonicalLists lists(TypeSerializer<?> stateSerializer) {
        RegisteredKeyValueStateBackendMetaInfo<?, ?> metaInfo =
                mock(RegisteredKeyValueStateBackendMetaInfo.class);
        when(metaInfo.getPreviousStateSerializer()).thenAnswer(call -> stateSerializer);
        return new CanonicalLists(metaInfo);
    }

    private static void check(DataOutputSerializer out, int... kinds) throws IOException {
        List<Integer> found = new ArrayList<>();
        ListSegments segments = new ListSegments();
        segments.reset(out.getSharedBuffer(), 0, out.length());
        while (segments.next()) {
            found.add(segments.kind());
        }
        assertThat(found.stream().mapToInt(kind -> kind)).containsExactly(boxed(kinds));
        assertThat(ListSegments.join(out.getSharedBuffer(), 0, out.length())).isEqualTo(list());
    }

    private static Integer[] boxed(int[] numbers) {
        return Arrays.stream(numbers).boxed().toArray(Integer[]::new);
    }

    @Test
    void elementsWithTtlAreSplit() throws Exception {
        CanonicalLists lists = lists(new ListSerializer<>(ELEMENTS));
        check(lists.toSegments(list()), THREE_ELEMENTS);
        check(lists.toSegments(list()), THREE_ELEMENTS);
        assertThat(lists.toSegments(new byte[0]).length()).isZero();
    }

    @Test
    void elementsWithoutTtlAreNotRead() throws Exception {
        check(lists(new ListSerializer<>(StringSerializer.INSTANCE)).toSegments(list()), JOINED);
        check(lists(StringSerializer.INSTANCE).toSegments(list()), JOINED);
    }

    @Test
    void listsThatCannotBeReadAreRestoredAllTheSame() throws Exception {
        RegisteredKeyValueStateBackendMetaInfo<?, ?> metaInfo =
                mock(RegisteredKeyValueStateBackendMetaInfo.class);
        when(metaInfo.getPreviousStateSerializer())
                .thenThrow(new IllegalStateException("its class is gone"));
        check(new CanonicalLists(metaInfo).toSegments(list()), JOINED);

        // Longs have eight bytes; the list is too short for the last one.
        CanonicalLists lists =
                lists(
                        new ListSerializer<>(
                                new TtlSerializer<>(
                                        LongSerializer.INSTANCE, LongSerializer.INSTANCE)));
        check(lists.toSegments(list()), JOINED);
        check(lists.toSegments(list()), JOINED);
    }
}
