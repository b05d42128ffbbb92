// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.host;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.util.ResourceGuard;
import org.lavakv.BackgroundEvent;
import org.lavakv.DBStatistics;
import org.lavakv.LavaDBException;
import org.lavakv.VolumeFigures;
import org.lavakv.flink.engine.LavaInstance;

/**
 * An open instance and its owner.
 *
 * <p>Threads: any. Ownership: the instance belongs to its backend. The reference is weak, so that
 * an instance that is lost without being disposed can be collected.
 */
final class ReportedInstance {

    private final WeakReference<LavaInstance> instance;
    private final String directory;
    @Nullable private final String volumePath;
    final String job;
    final String operator;
    private final EngineEventLog events; // guarded by itself

    /** The figures of an instance at one moment. */
    static final class Figures {
        final ReportedInstance of;
        final DBStatistics statistics;
        @Nullable final VolumeFigures volume;

        Figures(ReportedInstance of, DBStatistics statistics, @Nullable VolumeFigures volume) {
            this.of = of;
            this.statistics = statistics;
            this.volume = volume;
        }
    }

    ReportedInstance(LavaInstance instance, String job, String operator) {
        this.instance = new WeakReference<>(instance);
        this.directory = instance.directory().getName();
        this.volumePath = instance.files().volumePath();
        this.job = job;
        this.operator = operator;
        this.events = new EngineEventLog(operator, job, directory);
    }

    String directory() {
        return directory;
    }

    @Nullable
    String volumePath() {
        return volumePath;
    }

    boolean isLost() {
        return instance.get() == null;
    }

    /**
     * The engine's recorded decisions about values since the last call; empty when the instance is
     * closed or closing.
     */
    List<String> takeValueDecisions() {
        LavaInstance open = instance.get();
        if (open == null) {
            return List.of();
        }
        try (ResourceGuard.Lease lease = open.resourceGuard().acquireResource()) {
            return open.db().takeValueDecisions();
        } catch (LavaDBException malformed) {
            throw new UncheckedIOException(
                    new IOException(
                            "reading the decisions about values of " + directory, malformed));
        } catch (IOException | IllegalStateException closed) {
            return List.of();
        }
    }

    /**
     * The events of background jobs since the last call; empty when the instance is closed or
     * closing.
     */
    List<BackgroundEvent> takeBackgroundEvents() {
        LavaInstance open = instance.get();
        if (open == null) {
            return List.of();
        }
        try (ResourceGuard.Lease lease = open.resourceGuard().acquireResource()) {
            return BackgroundEvent.takeAll(open.db());
        } catch (LavaDBException malformed) {
            throw new UncheckedIOException(
                    new IOException(
                            "reading the failures of background jobs of " + directory, malformed));
        } catch (IOException | IllegalStateException closed) {
            return List.of();
        }
    }

    /** Logs and counts the events since the last call, unless the instance is closed. */
    void logEngineEvents() {
        LavaInstance open = instance.get();
        if (open == null) {
            return;
        }
        try (ResourceGuard.Lease lease = open.resourceGuard().acquireResource()) {
            synchronized (events) { // two threads would log them in another order
                events.log(open.db().takeEvents(), open.eventCounts(), System.nanoTime());
            }
        } catch (LavaDBException malformed) {
            throw new UncheckedIOException(
                    new IOException("reading the events of " + directory, malformed));
        } catch (IOException | IllegalStateException closed) {
            return;
        }
    }

    /** No more events will be logged. */
    void endEngineEvents() {
        synchronized (events) {
            events.close();
        }
    }

    /** Null when the instance is closed or closing. */
    @Nullable
    Figures read() {
        LavaInstance open = instance.get();
        if (open == null) {
            return null;
        }
        try (ResourceGuard.Lease lease = open.resourceGuard().acquireResource()) {
            return new Figures(this, open.db().getStatistics(), open.files().volumeFigures());
        } catch (IOException | IllegalStateException closed) {
            return null;
        }
    }
}
