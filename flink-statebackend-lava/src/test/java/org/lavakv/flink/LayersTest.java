// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.Serializable;
import org.junit.jupiter.api.Test;

/** Packages use each other in one direction only. */
class LayersTest {

    private static final String ROOT = "org.lavakv.flink";

    private final JavaClasses classes =
            new ClassFileImporter()
                    .withImportOption(new ImportOption.DoNotIncludeTests())
                    .importPackages("org.lavakv");

    @Test
    void noPackagesUseEachOtherBothWays() {
        slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(classes);
    }

    @Test
    void bindingsKnowNothingOfFlink() {
        noClasses()
                .that()
                .resideInAPackage("org.lavakv")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.flink..", ROOT + "..")
                .check(classes);
    }

    @Test
    void storageUsesNothingAboveIt() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".storage..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT, ROOT + ".engine..")
                .check(classes);
    }

    @Test
    void engineUsesNothingAboveIt() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".engine..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        ROOT,
                        ROOT + ".state..",
                        ROOT + ".timers..",
                        ROOT + ".checkpoint..",
                        ROOT + ".snapshot..",
                        ROOT + ".restore..",
                        ROOT + ".memory..",
                        ROOT + ".metrics..",
                        ROOT + ".host..")
                .check(classes);
    }

    @Test
    void theChangelogIsAPartByItself() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".changelog..")
                .should()
                .dependOnClassesThat(
                        resideInAPackage("org.lavakv..")
                                .and(
                                        not(
                                                resideInAnyPackage(
                                                        ROOT + ".changelog..",
                                                        ROOT + ".shared.."))))
                .check(classes);
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".shared..")
                .should()
                .dependOnClassesThat(
                        resideInAPackage(ROOT + "..")
                                .and(not(resideInAPackage(ROOT + ".shared.."))))
                .check(classes);
    }

    @Test
    void snapshotAndRestoreDoNotKnowEachOther() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".restore..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ROOT + ".snapshot..")
                .check(classes);
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".snapshot..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ROOT + ".restore..")
                .check(classes);
    }

    @Test
    void whatSnapshotAndRestoreShareUsesStorageOnly() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".checkpoint..")
                .should()
                .dependOnClassesThat(
                        resideInAPackage(ROOT + "..")
                                .and(
                                        not(
                                                resideInAnyPackage(
                                                        ROOT + ".checkpoint..",
                                                        ROOT + ".storage.."))))
                .check(classes);
    }

    /** Java would write the names of serializable classes into checkpoints. */
    @Test
    void whatSnapshotAndRestoreShareIsNotSerializable() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".checkpoint..")
                .should()
                .beAssignableTo(Serializable.class)
                .check(classes);
    }

    @Test
    void nothingUsesTheRoot() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        ROOT + ".state..",
                        ROOT + ".timers..",
                        ROOT + ".snapshot..",
                        ROOT + ".restore..",
                        ROOT + ".memory..",
                        ROOT + ".metrics..",
                        ROOT + ".host..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ROOT)
                .check(classes);
    }

    @Test
    void statesAndSnapshotsDoNotKnowEachOther() {
        noClasses()
                .that()
                .resideInAnyPackage(ROOT + ".state..", ROOT + ".timers..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT + ".snapshot..", ROOT + ".restore..")
                .check(classes);
        noClasses()
                .that()
                .resideInAnyPackage(ROOT + ".snapshot..", ROOT + ".restore..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT + ".state..", ROOT + ".timers..")
                .check(classes);
    }
}
