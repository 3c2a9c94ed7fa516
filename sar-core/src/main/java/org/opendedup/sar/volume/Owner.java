package org.opendedup.sar.volume;

/** Who makes a file: the caller's effective user and group. */
public record Owner(int uid, int gid) {}
