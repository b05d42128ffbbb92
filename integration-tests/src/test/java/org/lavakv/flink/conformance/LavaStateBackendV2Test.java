// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.api.common.state.v2.ValueState;
import org.apache.flink.runtime.asyncprocessing.AsyncExecutionController;
import org.apache.flink.runtime.state.AsyncKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.runtime.state.v2.StateBackendTestV2Base;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameter;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.LavaStateBackend;

/** Flink's conformance suite of asynchronous state, with Flink's adaptor. */
@ExtendWith(ParameterizedTestExtension.class)
class LavaStateBackendV2Test extends StateBackendTestV2Base<LavaStateBackend> {

    @Parameters(name = "incremental={0}")
    static List<Boolean> parameters() {
        return Arrays.asList(true, false);
    }

    @Parameter boolean incremental;

    @TempDir Path directory;

    @Override
    protected ConfigurableStateBackend getStateBackend() {
        return new SwitchingBackend(incremental);
    }

    @Override
    protected void restoreJob() {
        // The backend under test keeps nothing across jobs.
    }

    @Override
    protected CheckpointStorage getCheckpointStorage() {
        return new FileSystemCheckpointStorage(directory.toUri());
    }

    /**
     * Returns states that switch to the current record's key before each access, like operators do.
     * The suite sets contexts on its own controller, which does not inform the backend.
     */
    private static final class SwitchingBackend extends LavaStateBackend {

        private static final long serialVersionUID = 1L;

        SwitchingBackend(boolean incremental) {
            super(incremental);
        }

        @Override
        public <K> AsyncKeyedStateBackend<K> createAsyncKeyedStateBackend(
                KeyedStateBackendParameters<K> parameters) throws IOException {
            AsyncKeyedStateBackend<K> adaptor = super.createAsyncKeyedStateBackend(parameters);
            AtomicReference<AsyncExecutionController<K, ?>> controller = new AtomicReference<>();
            return proxy(
                    AsyncKeyedStateBackend.class,
                    adaptor,
                    (method, arguments, result) -> {
                        if (method.equals("setup")) {
                            controller.set((AsyncExecutionController<K, ?>) arguments[0]);
                        }
                        return result instanceof ValueState
                                ? switching((ValueState<?>) result, adaptor, controller)
                                : result;
                    });
        }

        private static <K> ValueState<?> switching(
                ValueState<?> state,
                AsyncKeyedStateBackend<K> adaptor,
                AtomicReference<AsyncExecutionController<K, ?>> controller) {
            return (ValueState<?>)
                    Proxy.newProxyInstance(
                            ValueState.class.getClassLoader(),
                            new Class<?>[] {ValueState.class},
                            (self, method, arguments) -> {
                                adaptor.switchContext(controller.get().getCurrentContext());
                                return invoke(method, state, arguments);
                            });
        }

        @SuppressWarnings("unchecked")
        private static <T> T proxy(Class<?> type, T target, Answer answer) {
            return (T)
                    Proxy.newProxyInstance(
                            type.getClassLoader(),
                            new Class<?>[] {type},
                            (self, method, arguments) ->
                                    answer.answer(
                                            method.getName(),
                                            arguments,
                                            invoke(method, target, arguments)));
        }

        private static Object invoke(Method method, Object target, Object[] arguments)
                throws Throwable {
            try {
                return method.invoke(target, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    private interface Answer {
        Object answer(String method, Object[] arguments, Object result);
    }
}
