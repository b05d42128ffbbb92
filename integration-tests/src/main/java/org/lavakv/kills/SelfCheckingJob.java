// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.kills;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.util.ParameterTool;

/**
 * Numbers from 0 on, in order, distributed over keys: number n is the (n / keys)th number of key (n
 * % keys). {@link SequenceCheck} stores what it has seen of a key in every kind of state. If a
 * state is wrong, the job fails and does not restart. Its output contains the same information
 * exactly once: a line "key place" for each number, and at the end a line "key count fired" for
 * each key.
 *
 * <p>The job ends when it is stopped with its timers drained.
 */
public final class SelfCheckingJob {

    private SelfCheckingJob() {}

    /** {@code --output DIRECTORY --keys KEYS --rate NUMBERS_PER_SECOND}. */
    public static void main(String[] arguments) throws Exception {
        ParameterTool parameters = ParameterTool.fromArgs(arguments);
        long keys = parameters.getLong("keys");
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment();
        // A single subtask counts, so that its numbers keep their order within each key.
        environment
                .fromSource(
                        new DataGeneratorSource<>(
                                (GeneratorFunction<Long, Long>) number -> number,
                                Long.MAX_VALUE,
                                RateLimiterStrategy.perSecond(parameters.getDouble("rate")),
                                Types.LONG),
                        WatermarkStrategy.<Long>forBoundedOutOfOrderness(Duration.ZERO)
                                .withTimestampAssigner((number, previous) -> number),
                        "numbers")
                .uid("numbers")
                .setParallelism(1)
                .keyBy(number -> number % keys)
                .process(new SequenceCheck(keys))
                .name("sequence-check")
                .uid("sequence-check")
                .sinkTo(
                        FileSink.forRowFormat(
                                        new Path(parameters.getRequired("output")),
                                        new SimpleStringEncoder<String>())
                                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                                .build())
                .name("lines")
                .uid("lines");
        environment.execute("Self-checking");
    }
}
