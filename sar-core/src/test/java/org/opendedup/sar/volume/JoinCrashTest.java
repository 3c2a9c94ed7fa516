package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.volume.store.ChunkIndexes;

/** Power cuts during an exact pass and the collection after it. */
class JoinCrashTest extends MovedReferencesCrashContract {
    private static final int CHUNK = 4096;
    private static final int FILE = 300 * CHUNK;

    @Override
    void store(SplittableRandom random) throws IOException {
        byte[] old = new byte[FILE];
        random.nextBytes(old);
        byte[] changed = old.clone();
        byte[] other = new byte[20 * CHUNK];
        random.nextBytes(other);
        System.arraycopy(other, 0, changed, 100 * CHUNK, other.length);
        storeUnnoticed("old", old);
        storeUnnoticed("changed", changed);
        storeUnnoticed("part", Arrays.copyOfRange(changed, 50 * CHUNK, 130 * CHUNK));
        uniqueBytes = FILE + other.length;
    }

    /** Stores a file as if no chunk of it were stored. */
    private void storeUnnoticed(String name, byte[] bytes) throws IOException {
        ForgetfulIndex forgetful = new ForgetfulIndex();
        forgetful.setForgets(true);
        store(name, bytes, forgetful.of(ChunkIndexes.heap()));
    }

    @Override
    void move(Volume volume) throws IOException {
        join(volume);
    }

    @Override
    void moveAll(Volume volume) throws IOException {
        JoinReport report = join(volume);
        assertEquals((280 + 80) * CHUNK, report.joinedBytes(), report::toString);
    }

    private static JoinReport join(Volume volume) throws IOException {
        return volume.maintenance().join().run(JoinLimits.ALL, Progress.NONE);
    }
}
