// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.apache.flink.configuration.ConfigOption;
import org.junit.jupiter.api.Test;

/** The documentation page of all options agrees with the code. */
class OptionsDocumentationTest {

    private static final Path PAGE = Paths.get("..", "docs", "configuration.md");

    @Test
    void pageIsGeneratedFromTheCode() throws Exception {
        assertThat(Files.readString(PAGE))
                .as(
                        "docs/configuration.md is stale: write it anew with"
                                + " org.lavakv.flink.OptionsDocumentation")
                .isEqualTo(OptionsDocumentation.page());
    }

    @Test
    void everyOptionIsExplained() {
        for (ConfigOption<?> option : ConfigurationCheck.allOptions()) {
            assertThat(OptionsDocumentation.page()).contains("`" + option.key() + "`");
        }
    }
}
