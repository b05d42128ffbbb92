// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.demo;

import javax.annotation.Nullable;

/** A flight with the weather at its origin during its hour. */
public class Departure {

    public Flight flight;

    /** Null if the records have no weather for this hour. */
    @Nullable public Weather weather;
}
