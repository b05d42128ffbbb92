// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.LinkedHashMap;
import java.util.Map;

/** The numbers of an instance's options by their names in the engine, for the plugin's tests. */
public final class DBOptionNumbers {

    private DBOptionNumbers() {}

    public static Map<String, Long> of(DBOptions options) {
        long[] numbers = options.toNative();
        Map<String, Long> named = new LinkedHashMap<>();
        for (DBOption option : DBOption.values()) {
            named.put(option.nativeName(), numbers[option.ordinal()]);
        }
        return named;
    }

    public static Map<String, Long> defaults() {
        return of(new DBOptions());
    }
}
