package org.lavakv.flink.state;

import java.io.IOException;
import java.util.Collection;
import org.apache.flink.runtime.state.internal.InternalMergingState;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.StateContext;

/** States that hold one accumulated value a key: reducing and aggregating state. */
abstract class AbstractLavaMergingState<K, N, IN, SV, OUT> extends AbstractLavaState<K, N, SV>
        implements InternalMergingState<K, N, IN, SV, OUT> {

    AbstractLavaMergingState(StateContext<K> context) {
        super(context);
    }

    /** Joins the accumulated values of two namespaces. */
    abstract SV merge(SV left, SV right) throws Exception;

    @Override
    public SV getInternal() throws IOException {
        int length = read();
        return length < 0 ? null : valueSerializer.deserialize(reader.input(0, length));
    }

    @Override
    public void updateInternal(SV value) throws IOException {
        if (value == null) {
            clear();
            return;
        }
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
        for (N source : sources) {
            if (source != null) {
                setCurrentNamespace(source);
                merged = mergeNullable(merged, takeCurrent());
            }
        }
        setCurrentNamespace(target);
        if (merged != null) {
            SV current = getInternal();
            updateInternal(current == null ? merged : merge(merged, current));
        }
    }

    private SV mergeNullable(SV left, SV right) throws Exception {
        if (left == null || right == null) {
            return left == null ? right : left;
        }
        return merge(left, right);
    }

    private SV takeCurrent() throws IOException {
        SV value = getInternal();
        if (value != null) {
            int length = keys.withNamespace(namespace);
            try {
                views.beforeWrite(keys.buffer(), length, 0);
                db.delete(table, keys.buffer(), 0, length, 0);
            } catch (LavaDBException e) {
                throw new IOException(failure("Merging namespaces of", e), e);
            }
        }
        return value;
    }
}
