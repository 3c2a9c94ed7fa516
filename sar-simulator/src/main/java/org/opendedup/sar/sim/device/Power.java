package org.opendedup.sar.sim.device;

/** What a device draws while it has something to do, and while it has not. */
public record Power(double activeWatts, double idleWatts) {}
