// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;

/**
 * Collects the log lines of a class until it is closed.
 *
 * <p>Threads: any may log and read.
 */
public final class LogLines extends AbstractAppender implements AutoCloseable {

    private static final AtomicLong COUNT = new AtomicLong();

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final String logger;
    private final boolean withLevels;

    /** Begins to collect the lines of the logger with this name, all of which are at level INFO. */
    public LogLines(String logger) {
        this(logger, false);
    }

    /**
     * Begins to collect the lines of the logger with this name.
     *
     * @param withLevels accepts any level and prefixes each line with it
     */
    public LogLines(String logger, boolean withLevels) {
        this(logger, withLevels, Level.INFO);
    }

    /** Begins to keep what the logger of this name logs at this level and above, with levels. */
    public LogLines(String logger, org.slf4j.event.Level level) {
        this(logger, true, Level.valueOf(level.name()));
    }

    private LogLines(String logger, boolean withLevels, Level level) {
        // A logger has one appender of a name.
        super(
                "lines of " + logger + ", " + COUNT.incrementAndGet(),
                null,
                null,
                false,
                Property.EMPTY_ARRAY);
        this.logger = logger;
        this.withLevels = withLevels;
        Configurator.setLevel(logger, level);
        start();
        logger().addAppender(this);
    }

    private Logger logger() {
        return ((LoggerContext) LogManager.getContext(false)).getLogger(logger);
    }

    /** The lines in the order in which they were logged. */
    public List<String> lines() {
        return lines;
    }

    @Override
    public void append(LogEvent event) {
        String line = event.getMessage().getFormattedMessage();
        if (withLevels) {
            lines.add(event.getLevel() + " " + line);
        } else {
            assertThat(event.getLevel()).isEqualTo(Level.INFO);
            lines.add(line);
        }
    }

    @Override
    public void close() {
        logger().removeAppender(this);
        Configurator.setLevel(logger, Level.WARN);
    }
}
