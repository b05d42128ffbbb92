// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.util.Optional;

/** Lava's goal for a figure of which less is better. Immutable. */
final class Goal {
    static final Goal NONE = new Goal(Double.NaN, false);

    private static final String PEER = "the goal";

    private final double most;
    private final boolean share;

    private Goal(double most, boolean share) {
        this.most = most;
        this.share = share;
    }

    /** At most this share of the peer's figure. */
    static Goal shareOf(double most) {
        return new Goal(most, true);
    }

    /** At most this value, independent of the peer. */
    static Goal atMost(double most) {
        return new Goal(most, false);
    }

    /**
     * A row that compares Lava with the goal; empty without a goal.
     *
     * @param lava its figure
     * @param ratio the ratio to the peer
     */
    Optional<Report.Row> row(String name, Metric metric, double lava, double ratio) {
        if (Double.isNaN(most)) {
            return Optional.empty();
        }
        return Optional.of(
                share
                        ? new Report.Row(
                                name,
                                metric.label() + ", share",
                                "",
                                1 / ratio,
                                PEER,
                                most,
                                ratio * most)
                        : new Report.Row(
                                name,
                                metric.label(),
                                metric.unit(),
                                lava,
                                PEER,
                                most,
                                most / lava));
    }
}
