package org.opendedup.sar.restore;

import java.io.InterruptedIOException;

/** Asked now and then by what takes long: ends it when somebody has stopped it. */
@FunctionalInterface
public interface StopCheck {
    StopCheck NEVER = () -> {};

    /** @throws InterruptedIOException if it was stopped */
    void check() throws InterruptedIOException;
}
