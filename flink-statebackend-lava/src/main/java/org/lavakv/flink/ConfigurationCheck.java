// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.commons.text.similarity.LevenshteinDistance;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.FallbackKey;
import org.apache.flink.util.FlinkRuntimeException;
import org.lavakv.flink.changelog.ChangelogOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns about configuration keys that have no effect: misspelled keys of Lava, and keys left over
 * from RocksDB. A TaskManager logs the same warning once for each job.
 *
 * <p>Threads: any thread.
 */
final class ConfigurationCheck {

    private static final Logger LOG = LoggerFactory.getLogger(ConfigurationCheck.class);

    private static final String ROCKSDB_PREFIX = "state.backend.rocksdb.";

    /** A key with more edits than this is a different key, not a misspelling. */
    private static final int EDITS_MAX = 12;

    private static final int JOBS_MAX = 1_000;

    /** The messages logged for each of the last jobs. Guarded by itself. */
    private static final Map<JobID, Set<String>> WARNED =
            new LinkedHashMap<>() {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<JobID, Set<String>> eldest) {
                    return size() > JOBS_MAX;
                }
            };

    private static final Map<String, String> COUNTERPARTS = new HashMap<>();

    static {
        for (String same :
                new String[] {
                    "localdir",
                    "timer-service.factory",
                    "timer-service.cache-size",
                    "checkpoint.transfer.thread.num",
                    "memory.managed",
                    "memory.fixed-per-slot",
                    "memory.fixed-per-tm",
                    "memory.write-buffer-ratio"
                }) {
            COUNTERPARTS.put(same, same);
        }
        COUNTERPARTS.put("thread.num", "background.threads");
        COUNTERPARTS.put("block.blocksize", "block.size");
        COUNTERPARTS.put("compression.per.level", "compression");
        COUNTERPARTS.put("compaction.level.target-file-size-base", "file.target-size");
        COUNTERPARTS.put("compaction.level.max-size-level-base", "level.base-size");
        COUNTERPARTS.put("writebuffer.size", "memtable.size");
        COUNTERPARTS.put("use-bloom-filter", "filter.bits-per-key");
        COUNTERPARTS.put("bloom-filter.bits-per-key", "filter.bits-per-key");
    }

    private ConfigurationCheck() {}

    /**
     * Logs messages about a job's configuration, each once for the job.
     *
     * @param messages the result of {@link #messages}
     */
    static void warn(JobID job, List<String> messages) {
        for (String message : messages) {
            if (isFirst(job, message)) {
                LOG.warn("Job {}: {}", job, message);
            }
        }
    }

    /** Whether this is the first call with this job and message. */
    static boolean isFirst(JobID job, String message) {
        synchronized (WARNED) {
            return WARNED.computeIfAbsent(job, id -> new HashSet<>()).add(message);
        }
    }

    /**
     * At most one message about keys of RocksDB, one about unknown keys, and one about former keys
     * that have no effect.
     */
    static List<String> messages(Set<String> keys) {
        Set<String> known = new TreeSet<>();
        Map<String, String> successors = new HashMap<>(); // by former key
        for (ConfigOption<?> option : allOptions()) {
            known.add(option.key());
            for (FallbackKey key : option.fallbackKeys()) {
                // A key of Flink's storage is no former key: that storage still uses it.
                if (isOfLava(key.getKey())) {
                    successors.put(key.getKey(), option.key());
                }
            }
        }
        Set<String> unknown = new TreeSet<>();
        Set<String> leftOver = new TreeSet<>();
        Set<String> overruled = new TreeSet<>();
        for (String key : keys) {
            String successor = successors.get(key);
            if (successor != null) {
                if (keys.contains(successor)) {
                    overruled.add(key + " (now " + successor + ")");
                }
            } else if (isOfLava(key) && !known.contains(key)) {
                unknown.add(withNearest(key, known));
            } else if (key.startsWith(ROCKSDB_PREFIX)) {
                leftOver.add(withCounterpart(key));
            }
        }
        List<String> messages = new ArrayList<>();
        if (!leftOver.isEmpty()) {
            messages.add(
                    "The configuration has keys of RocksDB, which have no effect on Lava: "
                            + String.join(", ", leftOver));
        }
        if (!unknown.isEmpty()) {
            messages.add(
                    "The configuration has keys that Lava does not know and ignores: "
                            + String.join(", ", unknown)
                            + ". Known keys: "
                            + String.join(", ", known));
        }
        if (!overruled.isEmpty()) {
            messages.add(
                    "The configuration has some keys by both their former and their present"
                            + " names. The former names have no effect: "
                            + String.join(", ", overruled));
        }
        return messages;
    }

    private static boolean isOfLava(String key) {
        return key.startsWith(LavaOptions.PREFIX) || key.startsWith(ChangelogOptions.PREFIX);
    }

    /** The key, followed by the most similar known key. */
    private static String withNearest(String key, Set<String> known) {
        LevenshteinDistance distance = new LevenshteinDistance(EDITS_MAX);
        String nearest = null;
        int fewest = Integer.MAX_VALUE;
        for (String candidate : known) {
            int edits = distance.apply(key, candidate); // -1: more than EDITS_MAX edits
            if (edits >= 0 && edits < fewest) {
                fewest = edits;
                nearest = candidate;
            }
        }
        return nearest == null ? key : key + " (did you mean " + nearest + "?)";
    }

    private static String withCounterpart(String key) {
        String suffix = key.substring(ROCKSDB_PREFIX.length());
        String counterpart = COUNTERPARTS.get(suffix);
        if (counterpart != null) {
            return key + " (Lava: " + LavaOptions.PREFIX + counterpart + ")";
        }
        return suffix.startsWith("metrics.")
                ? key + " (Lava's metrics are always on)"
                : key + " (no counterpart)";
    }

    /** All options of Lava, in the order of the classes' fields. */
    static List<ConfigOption<?>> allOptions() {
        List<ConfigOption<?>> options = optionsOf(LavaOptions.class);
        options.addAll(optionsOf(LavaConfigurableOptions.class));
        options.addAll(optionsOf(ChangelogOptions.class));
        return options;
    }

    static List<ConfigOption<?>> optionsOf(Class<?> owner) {
        List<ConfigOption<?>> options = new ArrayList<>();
        for (java.lang.reflect.Field field : owner.getDeclaredFields()) {
            if (field.getType() == ConfigOption.class && Modifier.isStatic(field.getModifiers())) {
                try {
                    options.add((ConfigOption<?>) field.get(null));
                } catch (IllegalAccessException e) {
                    throw new FlinkRuntimeException("The option " + field + " is not public.", e);
                }
            }
        }
        return options;
    }
}
