// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

/** The metrics of a run of {@link XllProcess}; {@link XllSuite} describes them. */
enum XllMetric implements Metric {
    WRITTEN("written a change", "bytes"),
    /** The part written to the engine's own files. */
    LOCAL("local a change", "bytes"),
    /** The part written to the changelog's files. */
    CHANGELOG("changelog a change", "bytes"),
    /** The rest, written to the checkpoints' storage. */
    MATERIALIZED("materialized a change", "bytes"),
    RECORDS("records", "1/s"),
    CPU("CPU a change", "us"),
    /** From the trigger to the completion, as reported by Flink. */
    CHECKPOINT("checkpoint", "ms"),
    CHECKPOINT_MAX("checkpoint at most", "ms"),
    CHECKPOINTS("checkpoints", "");

    private final String label;
    private final String unit;

    XllMetric(String label, String unit) {
        this.label = label;
        this.unit = unit;
    }

    @Override
    public String label() {
        return label;
    }

    @Override
    public String unit() {
        return unit;
    }

    @Override
    public boolean moreIsBetter() {
        return this == RECORDS || this == CHECKPOINTS;
    }
}
