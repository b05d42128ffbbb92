// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.lavakv.Host;

/**
 * Fails every test class of this module that leaves a native object open or native memory
 * allocated. Found through META-INF/services.
 */
public final class NativeLeakCheck implements BeforeAllCallback, AfterAllCallback {

    private long leakedBefore;

    @Override
    public void beforeAll(ExtensionContext context) {
        leakedBefore = Host.leakedNativeObjects();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        assertThat(Host.describeOpen()).as("what is open").isEmpty();
        assertThat(Host.leakedNativeObjects())
                .as("native objects that the garbage collector found open")
                .isEqualTo(leakedBefore);
    }
}
