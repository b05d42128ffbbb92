// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class SavepointSuiteTest {

    @TempDir Path directory;

    @Test
    void smallCasesAreComparedAndNothingStays() throws Exception {
        Path files = Files.createDirectory(directory.resolve("files"));
        assertThat(
                        new CommandLine(new SavepointSuite())
                                .execute(
                                        "--cases=128x2x100,1000x3x10",
                                        "--rounds=2",
                                        "--warmup=1",
                                        "--memory-mib=32",
                                        "--directory=" + files,
                                        "--results=" + directory))
                .isZero();
        assertThat(Files.readAllLines(directory.resolve("savepoint.jsonl"))).hasSize(2);
        assertThat(files).isEmptyDirectory();
    }

    @Test
    void casesThatAreNoneAreRefused() {
        for (String option :
                List.of("--cases=128", "--cases=1x2xa", "--rounds=0", "--memory-mib=0")) {
            assertThat(new CommandLine(new SavepointSuite()).execute(option)).isEqualTo(2);
        }
    }
}
