package org.opendedup.sar.restore.frame;

import java.io.InterruptedIOException;

/** Called regularly by long operations: throws an exception when the operation was stopped. */
@FunctionalInterface
public interface StopCheck {
    StopCheck NEVER = () -> {};

    /** @throws InterruptedIOException if the operation was stopped */
    void check() throws InterruptedIOException;
}
