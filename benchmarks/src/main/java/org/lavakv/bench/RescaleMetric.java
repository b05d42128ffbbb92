package org.lavakv.bench;

/** What a case of {@link RescaleProcess} is measured by; {@link RescaleSuite} says how. */
enum RescaleMetric implements Metric {
    /** A canonical savepoint. */
    SAVEPOINT("savepoint", "ms"),
    RESTORE("restore", "ms"),
    FIRST_RECORD("to first record", "ms"),
    WRITTEN("written", "bytes");

    private final String label;
    private final String unit;

    RescaleMetric(String label, String unit) {
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
}
