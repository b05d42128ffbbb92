package org.lavakv.demo;

/** What the register says of one plane. */
public class Plane {

    public String tail;
    public String built;
    public String manufacturer;
    public String model;
}
