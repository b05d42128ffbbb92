// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class CumulativeSeriesTest {
    private final CumulativeSeries series = new CumulativeSeries();

    @Test
    void averageIsOfTheWholeTime() {
        series.add(100, 1000);
        series.add(110, 1020);
        series.add(200, 1050);
        assertThat(series.average()).isEqualTo(0.5);
    }

    @Test
    void peakIsTheBusiestWindow() {
        long value = 0;
        for (int second = 0; second <= 1000; second++) {
            series.add(second, value);
            value += second >= 500 && second < 505 ? 8 : 1;
        }
        assertThat(series.peak(10)).isEqualTo((5 * 8 + 5) / 10.0);
        assertThat(series.peak(5)).isEqualTo(8);
        assertThat(series.average()).isEqualTo((1000 + 5 * 7) / 1000.0);
    }

    @Test
    void aWindowIsNeverShorterThanAskedFor() {
        series.add(0, 0);
        series.add(9, 90);
        series.add(18, 99);
        assertThat(series.peak(10)).isEqualTo(99 / 18.0);
    }

    @Test
    void aWindowThatIsLongerThanAllReadingsIsAllOfThem() {
        series.add(0, 0);
        series.add(4, 8);
        assertThat(series.peak(10)).isEqualTo(2);
    }

    @Test
    void oneReadingHasNoRate() {
        series.add(0, 7);
        assertThat(series.average()).isNaN();
        assertThat(series.peak(10)).isNaN();
    }

    @Test
    void timeMustGoOn() {
        series.add(5, 0);
        assertThatThrownBy(() -> series.add(5, 1)).isInstanceOf(IllegalArgumentException.class);
    }
}
