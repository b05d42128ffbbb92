// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.ttl.TtlAwareSerializer;
import org.lavakv.flink.engine.ListSegments;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Converts one state's lists from the canonical form, in which the elements are joined, to the
 * engine's form. Elements with TTL become a segment each, because the engine expires only whole
 * segments. Other elements stay joined, so that they need not be parsed.
 *
 * <p>Threads: one.
 */
final class CanonicalLists {

    private static final Logger LOG = LoggerFactory.getLogger(CanonicalLists.class);

    private final String state;
    private static final int INITIAL_BYTES = 256;
    private static final int KEPT_BYTES_MAX = 1 << 20;

    private DataOutputSerializer out = new DataOutputSerializer(INITIAL_BYTES);

    /** Parses elements with TTL; null when lists stay joined. */
    @Nullable private TypeSerializer<?> elements;

    /**
     * @param metaInfo the list state as the savepoint describes it
     */
    CanonicalLists(RegisteredKeyValueStateBackendMetaInfo<?, ?> metaInfo) {
        state = metaInfo.getName();
        try {
            TypeSerializer<?> serializer = metaInfo.getPreviousStateSerializer();
            if (serializer instanceof ListSerializer
                    && TtlAwareSerializer.isSerializerTtlEnabled(serializer)) {
                elements = ((ListSerializer<?>) serializer).getElementSerializer();
            }
        } catch (RuntimeException e) {
            stayJoined(e);
        }
    }

    /** The list's segments; valid until the next call. */
    DataOutputSerializer toSegments(byte[] list) throws IOException {
        out.clear();
        if (elements != null) {
            try {
                ListSegments.split(out, list, elements);
                return out;
            } catch (IOException | RuntimeException e) {
                stayJoined(e);
                out.clear();
            }
        }
        ListSegments.write(out, ListSegments.JOINED, list, 0, list.length);
        return out;
    }

    /**
     * Must be called when the result of {@link #toSegments} is not needed any more: one huge list
     * must not keep its buffer.
     */
    void written() {
        if (out.length() > KEPT_BYTES_MAX) {
            out = new DataOutputSerializer(INITIAL_BYTES);
        }
    }

    /**
     * Leaves the lists joined: the job may have a serializer that reads them although the
     * savepoint's own cannot.
     */
    private void stayJoined(Exception e) {
        elements = null;
        LOG.warn(
                "The serializer in the savepoint cannot read the lists of state '{}'. The lists"
                        + " are restored, but expired elements keep their space until their list"
                        + " is updated.",
                state,
                e);
    }
}
