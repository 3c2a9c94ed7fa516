package org.opendedup.sar.volume.node;

import java.io.IOException;

/** A read or change of metadata that returns a result. */
@FunctionalInterface
public interface Answer<T> {
    T get() throws IOException;
}
