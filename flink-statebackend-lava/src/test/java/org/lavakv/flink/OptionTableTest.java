// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.junit.jupiter.api.Test;
import org.lavakv.DBOptionNumbers;
import org.lavakv.flink.changelog.ChangelogConfiguration;
import org.lavakv.flink.changelog.ChangelogOptions;

/**
 * Every option appears in all required places. Each failure names the option and the place that
 * lacks it. docs/adding-an-option.md describes how to add an option.
 */
class OptionTableTest {

    /** Options of the TaskManager's configuration, which no job's settings read. */
    private static final Set<ConfigOption<?>> OF_THE_TASK_MANAGER =
            Set.of(LavaOptions.FIX_PER_TM_MEMORY_SIZE);

    /** Options that allow any text. Flink refuses a bad path when it is used. */
    private static final Set<ConfigOption<?>> ANY_TEXT = Set.of(ChangelogOptions.BASE_PATH);

    /** Options of the engine that do not belong to an instance, but to the host or to a state. */
    private static final Set<ConfigOption<?>> NOT_OF_AN_INSTANCE =
            Set.of(
                    LavaConfigurableOptions.BACKGROUND_THREADS,
                    LavaConfigurableOptions.BACKGROUND_CPU,
                    LavaConfigurableOptions.SPACE_PROCESS_LIMIT,
                    LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD,
                    LavaConfigurableOptions.VALUE_SEPARATION_AUTOMATIC,
                    // Only used for incremental checkpoints: the backend's builder sets it.
                    LavaConfigurableOptions.COLLECTION_UPLOAD_COST);

    /** Numbers of the engine without an option of the plugin. */
    private static final Set<String> WITHOUT_AN_OPTION =
            Set.of(
                    // Set from the key groups, in InstanceOpener.
                    "partition_bytes",
                    "partition_first",
                    "partition_last",
                    "collection_upload_cost_percent", // see above
                    // The plugin's durable copy is the checkpoint.
                    "create_if_missing",
                    "sync",
                    "wal",
                    "large_value_bytes",
                    // For tests and benchmarks of the engine.
                    "index_partition_bytes",
                    "collection_jobs_max",
                    "level_multiplier",
                    "level_count",
                    "l0_compaction_trigger",
                    "l0_stall_trigger",
                    "sealed_runs_max");

    /** A text that no other type accepts, and a number that no option allows. */
    private static List<String> badValues(ConfigOption<?> option) {
        return isOfType(option, "-1") ? List.of("not a value", "-1") : List.of("not a value");
    }

    private static boolean isOfType(ConfigOption<?> option, String value) {
        return catchThrowable(() -> config(option, value).get(option)) == null;
    }

    private static Configuration config(ConfigOption<?> option, String value) {
        Configuration config = new Configuration();
        config.setString(option.key(), value);
        return config;
    }

    /** Reads and checks the options of the state backend and of the changelog. */
    private static void setUp(Configuration config) {
        new LavaSettings(config);
        config.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, "file:///checkpoints");
        ChangelogConfiguration.check(config);
    }

    /** Records which options are read. */
    private static final class Recording extends Configuration {
        private final Set<String> read = new HashSet<>();

        @Override
        public <T> Optional<T> getOptional(ConfigOption<T> option) {
            read.add(option.key());
            return super.getOptional(option);
        }
    }

    @Test
    void everyOptionIsReadWhenAJobIsSetUp() {
        Recording config = new Recording();
        setUp(config);
        Set<String> unread = new TreeSet<>();
        for (ConfigOption<?> option : ConfigurationCheck.allOptions()) {
            if (!OF_THE_TASK_MANAGER.contains(option) && !config.read.contains(option.key())) {
                unread.add(option.key());
            }
        }
        assertThat(unread)
                .as("options that neither LavaSettings nor ChangelogSettings reads")
                .isEmpty();
    }

    @Test
    void everyOptionIsChecked() {
        Set<String> unchecked = new TreeSet<>();
        for (ConfigOption<?> option : ConfigurationCheck.allOptions()) {
            if (!OF_THE_TASK_MANAGER.contains(option) && !ANY_TEXT.contains(option)) {
                for (String bad : badValues(option)) {
                    Throwable refused = catchThrowable(() -> setUp(config(option, bad)));
                    if (!(refused instanceof IllegalConfigurationException)
                            || !refused.getMessage().contains("'" + option.key() + "'")) {
                        unchecked.add(option.key() + ": " + bad + " (" + refused + ")");
                    }
                }
            }
        }
        assertThat(unchecked)
                .as("options whose bad values are not refused by their names")
                .isEmpty();
    }

    @Test
    void everyEngineOptionIsInOneOfTheTables() {
        Set<String> known = new TreeSet<>();
        EngineOptions.ROWS.forEach(row -> known.add(row.option().key()));
        NOT_OF_AN_INSTANCE.forEach(option -> known.add(option.key()));
        Set<String> declared = new TreeSet<>();
        ConfigurationCheck.optionsOf(LavaConfigurableOptions.class)
                .forEach(option -> declared.add(option.key()));
        assertThat(known)
                .as("EngineOptions.ROWS and NOT_OF_AN_INSTANCE, beside LavaConfigurableOptions")
                .isEqualTo(declared);
    }

    @Test
    void everyRowSetsANumberOfTheEngineAndEveryNumberHasARow() {
        Map<String, Long> defaults = DBOptionNumbers.of(settings(new Configuration()).dbOptions());
        Set<String> set = new TreeSet<>();
        Set<String> idle = new TreeSet<>();
        for (EngineOptions.Row row : EngineOptions.ROWS) {
            Set<String> changed = new TreeSet<>();
            for (String value : otherValues(row.option())) {
                Map<String, Long> numbers =
                        DBOptionNumbers.of(settings(config(row.option(), value)).dbOptions());
                numbers.forEach(
                        (name, number) -> {
                            if (!number.equals(defaults.get(name))) {
                                changed.add(name);
                            }
                        });
            }
            set.addAll(changed);
            if (changed.isEmpty()) {
                idle.add(row.option().key());
            }
        }
        assertThat(idle).as("options whose rows set nothing").isEmpty();
        Set<String> missing = new TreeSet<>(defaults.keySet());
        missing.removeAll(set);
        assertThat(missing)
                .as("numbers of the engine that no row of EngineOptions sets")
                .isEqualTo(new TreeSet<>(WITHOUT_AN_OPTION));
    }

    private static LavaSettings settings(Configuration config) {
        return new LavaSettings(config);
    }

    /** Allowed values of the option's type; one of them is not the default. */
    private static List<String> otherValues(ConfigOption<?> option) {
        List<String> values = new ArrayList<>();
        for (String value :
                List.of("true", "false", "NONE", "ZSTD", "MERGE", "11", "1.5", "3 mb")) {
            if (isOfType(option, value)
                    && catchThrowable(() -> settings(config(option, value))) == null) {
                values.add(value);
            }
        }
        return values;
    }

    @Test
    void defaultsAreTheEngines() {
        assertThat(new TreeMap<>(DBOptionNumbers.of(settings(new Configuration()).dbOptions())))
                .as("numbers of the engine by the plugin's defaults, beside the engine's")
                .isEqualTo(new TreeMap<>(DBOptionNumbers.defaults()));
        assertThat(LavaConfigurableOptions.BLOCK_SIZE.defaultValue())
                .isEqualTo(new MemorySize(4096));
    }
}
