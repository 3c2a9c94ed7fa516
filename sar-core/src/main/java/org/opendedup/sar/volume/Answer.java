package org.opendedup.sar.volume;

import java.io.IOException;

/** A read or change of metadata that returns a result. */
@FunctionalInterface
interface Answer<T> {
    T get() throws IOException;
}
