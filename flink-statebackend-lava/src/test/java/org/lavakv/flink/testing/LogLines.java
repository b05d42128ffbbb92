package org.lavakv.flink.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;

/**
 * Keeps what a class logs until it is closed.
 *
 * <p>Threads: any may log and read.
 */
public final class LogLines extends AbstractAppender implements AutoCloseable {

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final String logger;
    private final boolean withLevels;

    /** Begins to keep what the logger of this name logs, all of which is at level INFO. */
    public LogLines(String logger) {
        this(logger, false);
    }

    /**
     * Begins to keep what the logger of this name logs.
     *
     * @param withLevels at any level, whose name stands before each line
     */
    public LogLines(String logger, boolean withLevels) {
        super("lines of " + logger, null, null, false, Property.EMPTY_ARRAY);
        this.logger = logger;
        this.withLevels = withLevels;
        Configurator.setLevel(logger, Level.INFO);
        start();
        logger().addAppender(this);
    }

    private Logger logger() {
        return ((LoggerContext) LogManager.getContext(false)).getLogger(logger);
    }

    /** In the order in which they were logged. */
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
