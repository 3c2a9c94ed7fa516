package org.opendedup.sar.common;

import java.io.IOException;

/** Something that returns a result, or fails with an I/O error. */
@FunctionalInterface
public interface Answer<T> {
    T get() throws IOException;
}
