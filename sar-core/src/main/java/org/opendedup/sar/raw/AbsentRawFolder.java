package org.opendedup.sar.raw;

import java.io.IOException;
import java.util.function.LongConsumer;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.io.RandomFile;

/** The folder of raw files of a volume whose fast tier is not there. Every access to a file fails and says why. */
public final class AbsentRawFolder implements RawFolder {
    private final String reason;

    /** @param reason why the fast tier cannot be used, as text */
    public AbsentRawFolder(String reason) {
        this.reason = reason;
    }

    private IOException absent() {
        return new IOException("the fast tier cannot be used: " + reason);
    }

    @Override
    public Epoch epoch() throws IOException {
        throw absent();
    }

    @Override
    public void setEpoch(Epoch used) throws IOException {
        throw absent();
    }

    @Override
    public RandomFile create(long number) throws IOException {
        throw absent();
    }

    @Override
    public RandomFile open(long number) throws IOException {
        throw absent();
    }

    @Override
    public RandomFile.Status status(long number) throws IOException {
        throw absent();
    }

    @Override
    public void delete(long number) throws IOException {
        throw absent();
    }

    @Override
    public boolean isAtRest(long number) throws IOException {
        throw absent();
    }

    @Override
    public boolean isUnused(long number) throws IOException {
        throw absent();
    }

    @Override
    public void sync() {
        // Nothing is written.
    }

    @Override
    public void forEach(LongConsumer visitor) throws IOException {
        throw absent();
    }

    @Override
    public long usableBytes() {
        return 0;
    }

    @Override
    public void close() {
        // Nothing is held.
    }

    /** Returns why the fast tier cannot be used. */
    @Override
    public String toString() {
        return reason;
    }
}
