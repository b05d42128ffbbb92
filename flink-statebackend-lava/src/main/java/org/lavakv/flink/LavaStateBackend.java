// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.AbstractManagedMemoryStateBackend;
import org.apache.flink.runtime.state.AsyncKeyedStateBackend;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.DefaultOperatorStateBackendBuilder;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.util.TernaryBoolean;
import org.lavakv.Host;
import org.lavakv.flink.memory.MemorySettings;
import org.lavakv.flink.shared.NativeLibrary;
import org.lavakv.local.PrivateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A state backend that keeps keyed state in LavaKV, a native engine, on local disks and in native
 * memory. Its options start with {@code state.backend.lava.}; see {@link LavaOptions} and {@link
 * LavaConfigurableOptions}.
 *
 * <p>Checkpoints are incremental unless {@code execution.checkpointing.incremental} is explicitly
 * false.
 *
 * <p>Threads: a value, except for the rotation among local directories. Flink creates the object on
 * the JobManager and several times per task. Therefore construction is cheap, and nothing native is
 * loaded before a keyed backend is created.
 */
public class LavaStateBackend extends AbstractManagedMemoryStateBackend
        implements ConfigurableStateBackend {

    private static final long serialVersionUID = 1L;

    private static final Logger LOG = LoggerFactory.getLogger(LavaStateBackend.class);

    private static final boolean INCREMENTAL_DEFAULT = true;

    private final TernaryBoolean incremental;

    /** Contains only Lava's keys. */
    private final Configuration options;

    /** Warnings about the job's configuration, logged where the job runs. */
    private final List<String> warnings;

    private transient int nextDirectory;
    private transient boolean nextDirectoryChosen;

    /** Takes all settings from the configuration, or their defaults. */
    public LavaStateBackend() {
        this(TernaryBoolean.UNDEFINED);
    }

    /**
     * @param incremental whether checkpoints are incremental, overriding the configuration
     */
    public LavaStateBackend(boolean incremental) {
        this(TernaryBoolean.fromBoolean(incremental));
    }

    private LavaStateBackend(TernaryBoolean incremental) {
        this.incremental = incremental;
        this.options = new Configuration();
        this.warnings = new ArrayList<>();
    }

    private LavaStateBackend(LavaStateBackend original, ReadableConfig config) {
        incremental =
                original.incremental.resolveUndefined(
                        config.getOptional(CheckpointingOptions.INCREMENTAL_CHECKPOINTS)
                                .orElse(INCREMENTAL_DEFAULT));
        options = new Configuration();
        for (Map.Entry<String, String> entry : config.toMap().entrySet()) {
            if (entry.getKey().startsWith(LavaOptions.PREFIX)) {
                options.setString(entry.getKey(), entry.getValue());
            }
        }
        options.addAll(original.options);
        warnings = new ArrayList<>(ConfigurationCheck.messages(config.toMap().keySet()));
        new LavaSettings(options);
        latencyTrackingConfigBuilder = original.latencyTrackingConfigBuilder.configure(config);
        sizeTrackingConfigBuilder = original.sizeTrackingConfigBuilder.configure(config);
    }

    /**
     * Returns a copy in which settings that this object leaves open come from the configuration.
     */
    @Override
    public LavaStateBackend configure(ReadableConfig config, ClassLoader classLoader) {
        return new LavaStateBackend(this, config);
    }

    /**
     * Sets an option of {@link LavaOptions} or {@link LavaConfigurableOptions}. The value takes
     * precedence over the configuration.
     */
    public <T> LavaStateBackend set(ConfigOption<T> option, T value) {
        options.set(option, value);
        new LavaSettings(options);
        return this;
    }

    /** Whether checkpoints are incremental. */
    public boolean isIncremental() {
        return incremental.getOrDefault(INCREMENTAL_DEFAULT);
    }

    LavaSettings settings() {
        return new LavaSettings(options);
    }

    @Override
    public String getName() {
        return "lava";
    }

    /**
     * Whether a slot reserves a share of its managed memory for state. It does not if the options
     * give state another kind of memory, because nothing would use the reserved share.
     */
    @Override
    public boolean useManagedMemory() {
        MemorySettings memory = settings().memory();
        return memory.managed() && memory.fixedPerSlot() == null;
    }

    /** The first checkpoint after such a restore uploads all files. */
    @Override
    public boolean supportsNoClaimRestoreMode() {
        return true;
    }

    /** Both formats are supported, with timers in the engine or on the heap. */
    @Override
    public boolean supportsSavepointFormat(SavepointFormatType formatType) {
        return true;
    }

    @Override
    public <K> AbstractKeyedStateBackend<K> createKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws IOException {
        Environment environment = parameters.getEnv();
        ConfigurationCheck.warn(parameters.getJobID(), warnings);
        LavaSettings settings = settings();
        File workingDirectory = environment.getTaskManagerInfo().getTmpWorkingDirectory();
        File libraryDirectory = settings.libraryDirectory();
        NativeLibrary.load(libraryDirectory == null ? workingDirectory : libraryDirectory);
        settings.backgroundThreads().ifPresent(Host::setBackgroundThreads);
        settings.backgroundCpu().ifPresent(Host::setBackgroundCpu);
        settings.spaceProcessLimit().ifPresent(Host::setSpaceLimit);
        return new LavaKeyedStateBackendBuilder<>(
                        parameters,
                        settings,
                        nextDirectory(settings.localDirectories(), workingDirectory),
                        latencyTrackingConfigBuilder
                                .setMetricGroup(parameters.getMetricGroup())
                                .build(),
                        sizeTrackingConfigBuilder
                                .setMetricGroup(parameters.getMetricGroup())
                                .build(),
                        isIncremental())
                .build();
    }

    /** Asynchronous state works, one access at a time. */
    @Override
    public boolean supportsAsyncKeyedStateBackend() {
        return true;
    }

    @Override
    public <K> AsyncKeyedStateBackend<K> createAsyncKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws IOException {
        return new LavaAsyncStateAdaptor<>(createKeyedStateBackend(parameters));
    }

    // Each task has its own backend object, so each starts at a random directory.
    private synchronized File nextDirectory(List<File> directories, File workingDirectory)
            throws IOException {
        if (directories.isEmpty()) {
            return workingDirectory;
        }
        if (!nextDirectoryChosen) {
            nextDirectory = ThreadLocalRandom.current().nextInt(directories.size());
            nextDirectoryChosen = true;
        }
        for (int i = 0; i < directories.size(); i++) {
            File directory = directories.get(nextDirectory % directories.size());
            nextDirectory = (nextDirectory + 1) % directories.size();
            if (canBeUsed(directory)) {
                return directory;
            }
        }
        throw new IOException(
                "None of the directories of '"
                        + LavaOptions.LOCAL_DIRECTORIES.key()
                        + "' exists or can be created: "
                        + directories);
    }

    /** Creates the directory if it is missing. */
    private static boolean canBeUsed(File directory) {
        try {
            PrivateFiles.createDirectories(directory.toPath());
            return directory.canWrite();
        } catch (IOException e) {
            LOG.warn("The local directory {} cannot be created.", directory, e);
            return false;
        }
    }

    @Override
    public OperatorStateBackend createOperatorStateBackend(
            OperatorStateBackendParameters parameters) throws Exception {
        boolean asynchronousSnapshots = true;
        return new DefaultOperatorStateBackendBuilder(
                        parameters.getEnv().getUserCodeClassLoader().asClassLoader(),
                        parameters.getEnv().getExecutionConfig(),
                        asynchronousSnapshots,
                        parameters.getStateHandles(),
                        parameters.getCancelStreamRegistry())
                .build();
    }

    @Override
    public String toString() {
        return "LavaStateBackend{incremental=" + incremental + ", options=" + options + '}';
    }
}
