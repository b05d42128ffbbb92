// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import org.apache.flink.runtime.state.internal.InternalMergingState;
import org.lavakv.flink.engine.StateContext;

/** States with one accumulated value for each key: reducing and aggregating state. */
abstract class AbstractLavaMergingState<K, N, IN, SV, OUT> extends AbstractLavaState<K, N, SV>
        implements InternalMergingState<K, N, IN, SV, OUT> {

    AbstractLavaMergingState(StateContext<K> context) {
        super(context);
    }

    /** Merges the accumulated values of two namespaces. */
    abstract SV merge(SV left, SV right) throws Exception;

    @Override
    public SV getInternal() throws IOException {
        return value(read());
    }

    private SV value(int length) throws IOException {
        return length < 0 ? null : valueSerializer.deserialize(reader.input(0, length));
    }

    @Override
    public void updateInternal(SV value) throws IOException {
        if (value == null) {
            clear();
            return;
        }
        observe(value);
        out.clear();
        valueSerializer.serialize(value, out);
        write();
    }

    @Override
    public void mergeNamespaces(N target, Collection<N> sources) throws Exception {
        if (sources == null || sources.isEmpty()) {
            return;
        }
        SV merged = null;
        List<byte[]> merging = new ArrayList<>();
        for (N source : new LinkedHashSet<>(sources)) {
            if (source != null && !source.equals(target)) {
                setCurrentNamespace(source);
                byte[] key = copyKey();
                SV value = value(read(key, key.length));
                if (value != null) {
                    merging.add(key);
                    merged = mergeNullable(merged, value);
                }
            }
        }
        setCurrentNamespace(target);
        if (merging.isEmpty()) {
            return;
        }
        byte[] key = copyKey();
        SV result = mergeNullable(merged, value(read(key, key.length)));
        if (result == null) { // the merged values have expired
            merging.add(key);
            deleteAll(merging);
        } else {
            out.clear();
            valueSerializer.serialize(result, out);
            writeMerged(key, false, merging);
        }
    }

    private SV mergeNullable(SV left, SV right) throws Exception {
        if (left == null || right == null) {
            return left == null ? right : left;
        }
        return merge(left, right);
    }
}
