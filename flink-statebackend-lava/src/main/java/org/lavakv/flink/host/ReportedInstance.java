package org.lavakv.flink.host;

import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.util.ResourceGuard;
import org.lavakv.DBStatistics;
import org.lavakv.VolumeFigures;
import org.lavakv.flink.engine.LavaInstance;

/**
 * An open instance, and whose it is.
 *
 * <p>Threads: any. Ownership: the instance is its backend's.
 */
final class ReportedInstance {

    private final LavaInstance instance;
    final String job;
    final String operator;

    /** What an instance was at, at one moment. */
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
        this.instance = instance;
        this.job = job;
        this.operator = operator;
    }

    String directory() {
        return instance.directory().getName();
    }

    @Nullable
    String volumePath() {
        return instance.files().volumePath();
    }

    /** Null when the instance is closed, or about to be. */
    @Nullable
    Figures read() {
        try (ResourceGuard.Lease lease = instance.resourceGuard().acquireResource()) {
            return new Figures(
                    this, instance.db().getStatistics(), instance.files().volumeFigures());
        } catch (IOException | IllegalStateException closed) {
            return null;
        }
    }
}
