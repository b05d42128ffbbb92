package org.lavakv.bench;

/** What a run of {@link XllProcess} is measured by; {@link XllSuite} says how. */
enum XllMetric implements Metric {
    WRITTEN("written a change", "bytes"),
    /** Of those, what went into the engine's own files. */
    LOCAL("local a change", "bytes"),
    /** Of those, what went into the changelog's files. */
    CHANGELOG("changelog a change", "bytes"),
    /** Of those, what else went to the checkpoints' storage. */
    MATERIALIZED("materialized a change", "bytes"),
    RECORDS("records", "1/s"),
    CPU("CPU a change", "us"),
    /** From its trigger to its completion, as Flink tells it. */
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
