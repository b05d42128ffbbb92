// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.testutils.ClassLoaderUtils;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.lavakv.flink.it.SavepointSwitchTest.Backend;

/**
 * A class in states, with TTL and without, loses a field, then gets another, while its job moves to
 * another backend and back. Its versions are compiled at run time, because the tests can contain
 * only one class of a name.
 */
@Timeout(120)
class EvolvedSavepointTest {

    private static final int KEYS = 5;
    private static final long TTL_MS = EvolvingOperator.TTL.toMillis();
    private static final String FIRST = "public int lost = 7; public String text;";
    private static final String SECOND = "public String text;";
    private static final String THIRD = "public long more; public String text;";

    @TempDir Path root;

    @ParameterizedTest
    @CsvSource({
        "ROCKS, LAVA, ROCKS, CANONICAL",
        "LAVA, ROCKS, LAVA, CANONICAL",
        "HEAP, LAVA, HEAP, CANONICAL",
        "LAVA, LAVA, LAVA, NATIVE",
        "LAVA_CHANGELOG, LAVA, LAVA_CHANGELOG, CANONICAL"
    })
    void fieldsComeAndGoOnTheWay(
            Backend first, Backend second, Backend third, SavepointFormatType format)
            throws Exception {
        Run run = new Run(first, FIRST, 1, "one");
        OperatorSubtaskState state = run.go(null, format);
        String one = "{lost=7, text=one}";
        assertThat(run.said).isEqualTo(both(one + " [" + one + "] {one=" + one + "}"));

        run = new Run(second, SECOND, TTL_MS, "two");
        state = run.go(state, format);
        assertThat(run.said)
                .isEqualTo(
                        both(
                                "{text=two} [{text=one}, {text=two}]"
                                        + " {one={text=one}, two={text=two}}"));

        // Values of the first run with TTL have now expired.
        run = new Run(third, THIRD, TTL_MS + 10, "six");
        run.go(state, format);
        one = "{more=0, text=one}";
        String two = "{more=0, text=two}";
        String six = "{more=0, text=six}";
        String forGood =
                String.format(
                        "%3$s [%1$s, %2$s, %3$s] {one=%1$s, six=%3$s, two=%2$s}", one, two, six);
        String live = String.format("%2$s [%1$s, %2$s] {six=%2$s, two=%1$s}", two, six);
        assertThat(run.said).isEqualTo(ofEachKey(forGood, live));
    }

    private static List<String> both(String content) {
        return ofEachKey(content, content);
    }

    private static List<String> ofEachKey(String... contents) {
        List<String> lines = new ArrayList<>();
        for (int key = 0; key < KEYS; key++) {
            for (String content : contents) {
                lines.add(key + " " + content);
            }
        }
        return lines;
    }

    /** The operator on one backend, with one version of the class. */
    private final class Run {
        private final Backend backend;
        private final String fields;
        private final long time;
        private final String text;
        private List<String> said;

        Run(Backend backend, String fields, long time, String text) {
            this.backend = backend;
            this.fields = fields;
            this.time = time;
            this.text = text;
        }

        /** Stores one more object, checks the content, and ends with a savepoint. */
        OperatorSubtaskState go(OperatorSubtaskState from, SavepointFormatType format)
                throws Exception {
            try (URLClassLoader classes =
                            ClassLoaderUtils.compileAndLoadJava(
                                    Files.createTempDirectory(root, "classes").toFile(),
                                    EvolvingOperator.CLASS + ".java",
                                    "public class "
                                            + EvolvingOperator.CLASS
                                            + " { "
                                            + fields
                                            + " }");
                    KeyedOneInputStreamOperatorTestHarness<String, String, String> harness =
                            backend.harness(new EvolvingOperator(), classes, root)) {
                if (from != null) {
                    harness.initializeState(from);
                }
                harness.open();
                harness.setStateTtlProcessingTime(time);
                for (int key = 0; key < KEYS; key++) {
                    harness.processElement(key + ":" + text, 0);
                    harness.processElement(key + ":" + SwitchingOperator.READ, 0);
                }
                said = harness.extractOutputValues();
                return harness.snapshotWithLocalState(1, 1, SavepointType.savepoint(format))
                        .getJobManagerOwnedState();
            }
        }
    }
}
