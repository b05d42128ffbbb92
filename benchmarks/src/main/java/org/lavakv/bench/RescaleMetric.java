// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

/** The metrics of a case of {@link RescaleProcess}; {@link RescaleSuite} describes them. */
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
