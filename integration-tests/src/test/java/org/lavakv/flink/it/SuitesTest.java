// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.suite.api.Select;
import org.junit.platform.suite.api.SelectClasses;

/**
 * The suites of Flink's own tests name classes and methods as text. JUnit would silently omit a
 * name that it does not find, or that a filter drops.
 */
class SuitesTest {

    @ParameterizedTest
    @ValueSource(
            classes = {
                FlinkCheckpointingITCase.class,
                FlinkMigrationITCase.class,
                FlinkMoreLongITCase.class,
                FlinkResumeLongITCase.class,
                FlinkSavepointITCase.class,
                FlinkStateProcessorLongITCase.class,
                FlinkUnalignedITCase.class,
                FlinkUnalignedLongITCase.class,
                FlinkWindowsITCase.class,
                FlinkWindowsLongITCase.class,
            })
    void findsAllThatItNames(Class<?> suite) {
        TestPlan plan =
                LauncherFactory.create()
                        .discover(
                                LauncherDiscoveryRequestBuilder.request()
                                        .selectors(selectClass(suite))
                                        .build());
        Set<String> found = new TreeSet<>();
        plan.accept(
                new TestPlan.Visitor() {
                    @Override
                    public void visit(TestIdentifier test) {
                        test.getSource()
                                .filter(source -> source instanceof MethodSource)
                                .map(source -> (MethodSource) source)
                                .ifPresent(
                                        method -> {
                                            found.add(method.getClassName());
                                            found.add(
                                                    method.getClassName()
                                                            + "#"
                                                            + method.getMethodName());
                                        });
                    }
                });
        for (String name : suite.getAnnotation(SelectClasses.class).names()) {
            assertThat(found).as("tests of %s", suite.getSimpleName()).contains(name);
        }
        for (Select select : suite.getAnnotationsByType(Select.class)) {
            for (String each : select.value()) {
                String method = each.replaceAll("^iteration:method:|[\\[(].*", "");
                assertThat(found).as("tests of %s", suite.getSimpleName()).contains(method);
            }
        }
    }
}
