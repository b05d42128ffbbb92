// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.shared;

import java.util.Optional;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;

/**
 * Reads values of options.
 *
 * <p>Threads: any. Errors: {@link IllegalConfigurationException} that names the key and the allowed
 * values.
 */
public final class OptionValues {

    private OptionValues() {}

    /**
     * The value in the configuration; empty if the option is not set.
     *
     * @param allowed the values of the option's type, for the message
     */
    public static <T> Optional<T> read(
            ReadableConfig config, ConfigOption<T> option, String allowed) {
        try {
            return config.getOptional(option);
        } catch (IllegalArgumentException e) {
            throw new IllegalConfigurationException(
                    "The value of '"
                            + option.key()
                            + "' is not allowed: it must be "
                            + allowed
                            + ".",
                    e);
        }
    }

    /** Refuses a value that is not valid. */
    public static void check(boolean valid, ConfigOption<?> option, Object value, String allowed) {
        if (!valid) {
            throw new IllegalConfigurationException(
                    String.format(
                            "The value %s of '%s' is not allowed: it must be %s.",
                            value, option.key(), allowed));
        }
    }
}
