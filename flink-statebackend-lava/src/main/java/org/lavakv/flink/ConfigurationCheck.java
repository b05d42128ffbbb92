package org.lavakv.flink;

import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.util.FlinkRuntimeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of keys in a configuration that have no effect: of Lava, misspelled, and of RocksDB, left
 * over. The same warning comes once in a process.
 *
 * <p>Threads: any thread.
 */
final class ConfigurationCheck {

    private static final Logger LOG = LoggerFactory.getLogger(ConfigurationCheck.class);

    private static final String ROCKSDB_PREFIX = "state.backend.rocksdb.";

    private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

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

    static void warn(ReadableConfig config) {
        for (String message : messages(config.toMap().keySet())) {
            if (WARNED.add(message)) {
                LOG.warn(message);
            }
        }
    }

    /** At most one message about keys of RocksDB, and one about unknown keys. */
    static List<String> messages(Set<String> keys) {
        Set<String> known = new TreeSet<>();
        for (ConfigOption<?> option : allOptions()) {
            known.add(option.key());
        }
        Set<String> unknown = new TreeSet<>();
        Set<String> leftOver = new TreeSet<>();
        for (String key : keys) {
            if (key.startsWith(LavaOptions.PREFIX) && !known.contains(key)) {
                unknown.add(key);
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
                    "The configuration has keys that Lava does not know: "
                            + String.join(", ", unknown)
                            + ". Known are: "
                            + String.join(", ", known));
        }
        return messages;
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
