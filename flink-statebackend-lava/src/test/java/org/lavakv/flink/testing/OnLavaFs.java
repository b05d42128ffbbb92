// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.lavakv.flink.LavaOptions.FileSystemType;

/** Tests whose {@link BackendFixture}s have their files in volumes. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(OnLavaFs.Switch.class)
public @interface OnLavaFs {

    /** Switches all fixtures, for one test class at a time. */
    final class Switch implements BeforeAllCallback, AfterAllCallback {
        @Override
        public void beforeAll(ExtensionContext context) {
            BackendFixture.useFileSystem(FileSystemType.LAVAFS);
        }

        @Override
        public void afterAll(ExtensionContext context) {
            BackendFixture.useFileSystem(FileSystemType.POSIX);
        }
    }
}
