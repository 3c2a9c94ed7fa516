package org.opendedup.sar.differential;

import java.io.IOException;
import org.opendedup.sar.mounted.TwoMounts;

/** A hand in each of the two file systems. They work at the same time. */
final class Hands implements AutoCloseable {
    private final Hand ext4;
    private final Hand volume;

    Hands(TwoMounts mounts, String folder) throws IOException {
        ext4 = new Hand(mounts.ext4(), folder, true);
        try {
            volume = new Hand(mounts.volume(), folder, false);
        } catch (IOException e) {
            ext4.close();
            throw e;
        }
    }

    Call call(String op) throws IOException {
        return call(op, op);
    }

    /** Makes the two execute different ops. */
    Call call(String onExt4, String onVolume) throws IOException {
        Hand.Pending first = ext4.start(onExt4);
        Hand.Pending second = volume.start(onVolume);
        return new Call(onExt4, first.await(), second.await());
    }

    @Override
    public void close() throws IOException {
        try (ext4) {
            volume.close();
        }
    }
}
