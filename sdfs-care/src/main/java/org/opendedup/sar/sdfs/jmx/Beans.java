package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Calls for JMX, whose clients get an exception with its causes only if it is unchecked. */
public final class Beans {
    private Beans() {}

    /** A call that reads or writes. */
    @FunctionalInterface
    public interface Call<T> {
        T run() throws IOException;
    }

    static <T> T call(Call<T> call) {
        try {
            return call.run();
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }
}
