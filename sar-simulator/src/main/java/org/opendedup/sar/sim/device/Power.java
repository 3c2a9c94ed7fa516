package org.opendedup.sar.sim.device;

/** Power of a device while it has work, and while it is idle. */
public record Power(double activeWatts, double idleWatts) {}
