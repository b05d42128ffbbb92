// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.demo;

/** One plane's entry in the register. */
public class Plane {

    public String tail;
    public String built;
    public String manufacturer;
    public String model;
}
